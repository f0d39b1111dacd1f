"""A malicious relay: a real one whose keys and certificates are a liar's, who changes what it says to the hosts under it, and what it
says to the project. Each lie is refused and named by whom it was told, or makes no difference; the result is right to the byte."""
import hashlib
import json
import re
import unittest
import zlib

from harness import HostKey, base64url, from_base64url, main
from kernels import Held
from liar import Liar
from tree import Tree, code_via

HOSTS = ("ann", "bob")


def said(statement):
    return json.loads(from_base64url(statement["payload"]))


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


class MaliciousRelay(unittest.TestCase):
    def test_what_a_relay_can_say(self):
        with Tree() as grid:
            grid.start_server()
            # Between the project and the relay, with the keys of the server: as if the relay itself had said it.
            self.above = self.stand_before(grid, grid.port, grid.project)
            grid.add_relay("lab", through=self.above.port)
            self.below = self.stand_before(grid, grid.relay_ports["lab"], grid.relay_directory("lab"))
            self.relay_key = HostKey(grid.relay_directory("lab") / "keys" / "host.key")
            self.grid, self.held = grid, Held(grid, 3000, pause=0.05)
            identity = self.held.add()
            for name in HOSTS:
                grid.join(name, code=code_via(grid.relay_code("lab"), self.below.port))
                self.held.start_client(name)
            grid.wait_until("first results", lambda: grid.problem(identity)["accepted"] > 0, 60)
            self.ids = {name: grid.host_id(name) for name in HOSTS}
            self.lies_about_grants()
            self.lies_about_acknowledgements(identity)
            blamed = self.blamed()
            self.lies_about_results()
            self.held.let_go()
            info = grid.wait_finished(identity)
            self.assertEqual(sum(share["items"] for share in info["shares"]), self.held.count, "counted twice or lost")
            hosts = {host["name"]: host["items_accepted"] for host in grid.admin_json("host", "list")["items"]}
            self.assertEqual((hosts["ann"] + hosts["bob"], hosts["lab"]), (self.held.count, 0), "others than who computed it are credited")
            self.assertEqual(grid.results(identity), self.held.expected)
            for name in HOSTS:
                grid.wait_until(f"{name} to have nothing more", lambda name=name: not grid.kept_units(name))
            self.assertEqual(self.blamed(), blamed, "a host is blamed for what its relay changed")

    def blamed(self):
        return {host["name"]: (host["failures"], host["disagreements"]) for host in self.grid.admin_json("host", "list")["items"]}

    def stand_before(self, grid, port, directory):
        liar = Liar(port, directory / "keys" / "tls.pem", directory / "keys" / "tls.key")
        self.addCleanup(liar.close)
        return liar

    def log_since(self, names, marks):
        return "".join(self.grid.log(name)[marks[name]:] for name in names)

    def told(self, what, liar, names, refusal, **rules):
        """The lie is told, and what somebody of `names` then writes; None: nobody need write anything. Work goes on: a host that
        cannot verify what it was sent gets no work for half a minute, and both may have been told a lie."""
        with self.subTest(what):
            marks = {name: len(self.grid.log(name)) for name in names}
            lie = liar.tell(**rules)
            self.grid.wait_until(f"the lie: {what}", lambda: lie.told >= lie.times, 90)
            liar.tell()
            if refusal:
                self.grid.wait_until(f"a word about: {what}", lambda: re.search(refusal, self.log_since(names, marks)))
            before = self.accepted()
            self.grid.wait_until(f"more results after: {what}", lambda: self.accepted() > before, 90)

    def accepted(self):
        return sum(host["items_accepted"] for host in self.grid.admin_json("host", "list")["items"])

    # ---- down: grants

    @staticmethod
    def chain_of(answer):
        """Of the first grant."""
        parent = said(answer["grants"][0])["parent"]
        return next(chain["statements"] for chain in answer["leases"] if digest_of(from_base64url(chain["statements"][1]["payload"])) == parent)

    def changed_grant(self, change):
        """Signed by the relay as it should be; `change` has the lease, too."""
        def rule(path, asked, answer):
            if path != "/v1/work" or not answer["grants"]:
                return False
            answer["grants"][0] = self.relay_key.sign("relay-grant", change(said(answer["grants"][0]), said(self.chain_of(answer)[1])))
            return True
        return rule

    def changed_head(self, change):
        """The project's own grant, at the end of the chain, is another."""
        def rule(path, asked, answer):
            if path != "/v1/work" or not answer["grants"]:
                return False
            head = self.chain_of(answer)[-1]
            if not change(head):
                return False
            # What stands on it names it anew, as the relay can see to.
            answer["grants"][0] = self.relay_key.sign("relay-grant", {**said(answer["grants"][0]), "parent": digest_of(from_base64url(head["payload"]))})
            return True
        return rule

    def lies_about_grants(self):
        def wider(part, lease):
            return {**part, "range": {"begin": part["range"]["begin"], "end": lease["range"]["end"] + 1}}

        def longer(part, lease):
            return {**part, "deadline": lease["deadline"] + 3_600_000_000}

        def swapped(part, lease):
            return {**part, "host": next(host for host in self.ids.values() if host != part["host"])}

        def of_another_lease(part, lease):
            return {**part, "parent": "0" * 64}

        refused = "a unit is not taken: .*"
        self.told("a range beyond the lease", self.below, HOSTS, refused + "items that the relay was not given", answered=self.changed_grant(wider))
        self.told("a longer time than the lease has", self.below, HOSTS, refused + "lasts longer than the lease", answered=self.changed_grant(longer))
        self.told("another host's unit", self.below, HOSTS, refused + "is for host", answered=self.changed_grant(swapped))
        self.told("a part of no lease", self.below, HOSTS, "", answered=self.changed_grant(of_another_lease))

        def parameters(head):
            if "context" in head:
                context = json.loads(from_base64url(head["context"]))
                context["parameters"] = json.dumps({**json.loads(context["parameters"]), "first": 7})
                head["context"] = base64url(json.dumps(context).encode())
                return True
            grant = said(head)
            if "parameters" not in grant:
                return False
            grant["parameters"] = json.dumps({**json.loads(grant["parameters"]), "first": 7})
            head["payload"] = base64url(json.dumps(grant).encode())
            return True

        def inputs(head):
            grant = said(head)
            grant["inputs"] = [{"name": "extra", "digest": "0" * 64, "bytes": 5}]
            head["payload"] = base64url(json.dumps(grant).encode())
            return True

        def signed_by_the_relay(head):
            head.update(self.relay_key.sign("grant", said(head)))
            return True

        self.told("other inputs", self.below, HOSTS, refused, answered=self.changed_head(inputs))
        self.told("a project's grant that the relay made", self.below, HOSTS, refused, answered=self.changed_head(signed_by_the_relay))
        # Contexts are said once to a host: who comes anew is told.
        self.grid.kill("ann")
        self.held.start_client("ann")
        self.told("other parameters", self.below, HOSTS, refused, answered=self.changed_head(parameters))

        stranger = HostKey()

        def by_a_stranger(path, asked, answer):
            if path != "/v1/work" or not answer["grants"]:
                return False
            answer["grants"][0] = stranger.sign("relay-grant", said(answer["grants"][0]))
            return True

        self.told("a grant by a stranger's key", self.below, HOSTS, refused, answered=by_a_stranger)
        first = {}

        def replayed(path, asked, answer):
            if path != "/v1/work" or not answer["grants"]:
                return False
            part = said(answer["grants"][0])
            if part["host"] not in first:
                first[part["host"]] = answer["grants"][0], {"statements": self.chain_of(answer)}
                return False
            if any(unit["unit"] == said(first[part["host"]][0])["unit"] for unit in asked["units"]):
                return False  # still in hand
            answer["grants"][0], chain = first[part["host"]]
            answer["leases"].append(chain)
            return True

        self.told("an old grant once more", self.below, HOSTS, None, answered=replayed)

    # ---- down: acknowledgements

    def lies_about_acknowledgements(self, identity):
        def made_by(**changes):
            """In the place of the word that the relay holds a result."""
            def rule(path, asked, answer):
                if path != "/v1/work" or not answer.get("held"):
                    return False
                host = said(asked["commits"][0]["delivery"])["host"]
                answer["acknowledgements"] = [{**self.relay_key.sign("acknowledgement", {
                    **result, "host": host, "status": "accepted", "reason": "", "items_accepted": 1, "at": 1}), **changes}
                    for result in answer.pop("held")]
                return True
            return rule

        not_believed = "rejected an acknowledgement, and kept the result"
        document = json.loads(self.grid.request("GET", "/v1/project", raw=True)[2])
        work_key = said(said(document)["work_certificate"])["key"]
        self.told("an acknowledgement that the relay signed", self.below, HOSTS, None, answered=made_by())  # of a newer key, for all they know
        self.told("the same, as if by the project", self.below, HOSTS, not_believed, answered=made_by(key=work_key))
        seen = {}

        def of_another(path, asked, answer):
            if path not in ("/v1/work", "/v1/heartbeat") or not answer.get("acknowledgements"):
                return False
            mine = answer["acknowledgements"][0]
            seen[said(mine)["host"]] = mine
            theirs = next((each for host, each in seen.items() if host != said(mine)["host"]), None)
            if theirs is None:
                return False
            answer["acknowledgements"] = [theirs]
            return True

        self.told("another host's acknowledgement instead of its own", self.below, HOSTS, not_believed, answered=of_another)

        def again(path, asked, answer):
            if path != "/v1/work":
                return False
            answer["acknowledgements"] = answer.get("acknowledgements", []) + list(seen.values())[:1]
            return bool(seen)

        self.told("old acknowledgements once more", self.below, HOSTS, None, answered=again, times=3)

        def withheld(path, asked, answer):
            return bool(answer.get("acknowledgements")) and answer.update(acknowledgements=[]) is None

        with self.subTest("acknowledgements that never come"):
            self.below.tell(answered=withheld, times=1 << 30)
            # The last word before this may have settled all that one of them had.
            self.grid.wait_until("results of all", lambda: all(self.grid.kept_units(name) for name in HOSTS))
            before = self.grid.problem(identity)["accepted"]
            self.grid.wait_until("results that the project has", lambda: self.grid.problem(identity)["accepted"] > before + 20)
            for name in HOSTS:
                self.assertTrue(self.grid.kept_units(name), f"{name} deleted what was not acknowledged")
            self.below.tell()
            # An honest relay says an answer three times; one that is started again, all answers of the last hour.
            self.grid.kill("lab")
            self.grid.start_relay("lab")

    # ---- up: results

    def lies_about_results(self):
        """Results that the relay had for the project are changed before they come there; what it says later, honestly, is taken."""
        caught = []

        def withheld(path, asked):
            if path == "/v1/work" and asked["commits"] and "data" in asked["commits"][0]:
                caught.append(json.loads(json.dumps(asked)))
                asked["commits"] = []
            return bool(caught)

        lie = self.above.tell(asked=withheld)
        self.grid.wait_until("a result", lambda: lie.told)
        message = {**caught[0], "slots": []}
        commit = message["commits"][0]
        delivery = said(commit["delivery"])
        raw = zlib.decompress(from_base64url(commit["data"]))
        other_item = raw[:4] + bytes([raw[4] ^ 1]) + raw[5:]
        theirs = next(each["delivery"] for _, asked, _, _ in self.above.heard for each in (asked or {}).get("commits", ())
                      if said(each["delivery"])["host"] != delivery["host"])

        def tell(what, reason, by, **changes):
            with self.subTest(what):
                mark = len(self.grid.log("server"))
                forged = {name: value for name, value in {**commit, **changes}.items() if value is not None}
                status, _, reply = self.grid.request("POST", "/v1/work", {**message, "commits": [forged]}, self.above.token)
                self.assertEqual(status, 200, reply)
                answer = said(reply["acknowledgements"][0])
                self.assertEqual((answer["status"], answer["host"]), ("refused", by), answer)
                self.assertRegex(answer["reason"], reason)
                self.assertIn(f"from host {by}: {answer['reason']}", self.grid.log("server")[mark:])

        relay, host = self.grid.host_id("lab"), delivery["host"]
        changed = "do not have the length and digest"
        tell("half a segment", changed, relay, data=base64url(zlib.compress(raw[:len(raw) // 2])))
        tell("no segment", "cannot be read", relay, data=base64url(b"nothing"))
        tell("another item", changed, relay, data=base64url(zlib.compress(other_item)))
        tell("another item and its digest", "of another result", relay, data=base64url(zlib.compress(other_item)), digest=digest_of(other_item))
        tell("another host's word about something else", "of another result", relay, delivery=theirs)
        tell("a word that the relay signed", "not signed by the key", host, delivery=self.relay_key.sign("delivery", delivery))
        tell("a word that the relay signed about another", "not signed by the key", said(theirs)["host"],
             delivery=self.relay_key.sign("delivery", {**delivery, "host": said(theirs)["host"]}))
        tell("no word: it would be the relay's own", "only results with a host", relay, delivery=None)
        before = self.accepted()
        self.grid.wait_until("the same results, unchanged", lambda: self.accepted() > before)

        def halved(path, asked):
            """On the way to an honest relay: it does not hold what is damaged, and the host sends it again."""
            if path != "/v1/work" or not asked["commits"] or "data" not in asked["commits"][0]:
                return False
            sent = zlib.decompress(from_base64url(asked["commits"][0]["data"]))
            asked["commits"][0]["data"] = base64url(zlib.compress(sent[:len(sent) // 2]))
            return True

        self.told("the relay gets half a segment", self.below, ["lab"], "are not taken: .*" + changed, asked=halved)


if __name__ == "__main__":
    main()
