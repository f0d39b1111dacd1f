"""What sets machines up is understood: Ansible reads the playbooks of deploy (where it is installed), and the Kubernetes manifests name
nothing that is not there: files, settings, keys, volumes, ports, labels."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def check_playbooks():
    if not shutil.which("ansible-playbook"):
        print("ansible-core is not installed: playbooks are not looked at")
        return []
    faults = []
    with tempfile.TemporaryDirectory(prefix="gleaner-ansible-") as home:
        for playbook in sorted(DEPLOY.glob("*/playbook.yml")):
            inventory = playbook.with_name("inventory.example")
            done = subprocess.run(["ansible-playbook", "--syntax-check", "-i", inventory if inventory.exists() else "localhost,", playbook],
                                  capture_output=True, text=True, env={**os.environ, "ANSIBLE_LOCAL_TEMP": home, "ANSIBLE_NOCOLOR": "1"})
            if done.returncode:
                faults.append(f"{playbook.relative_to(DEPLOY)}: {done.stderr.strip()}")
    return faults


def check_pods(kind, name, pod, made):
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    used = {key["configMap"]["name"] for key in volumes.values() if "configMap" in key} | {
        key["secret"]["secretName"] for key in volumes.values() if "secret" in key}
    faults = []
    for container in pod["containers"] + pod.get("initContainers", []):
        used |= {entry["valueFrom"]["secretKeyRef"]["name"] for entry in container.get("env", [])}
        faults += [f"{kind} {name}: no volume is called {mount['name']}" for mount in container["volumeMounts"] if mount["name"] not in volumes]
        ports = {port["name"] for port in container.get("ports", [])}
        faults += [f"{kind} {name}: no port is called {container[probe]['httpGet']['port']}" for probe in ("startupProbe", "readinessProbe", "livenessProbe")
                   if probe in container and container[probe]["httpGet"]["port"] not in ports]
        if not (container["securityContext"]["readOnlyRootFilesystem"] and container["image"] == "gleaner-server"):
            faults.append(f"{kind} {name}: {container['name']} is not as confined as the others, or of another image")
    return faults + [f"{kind} {name}: kustomization.yaml makes no {what}" for what in used - made]


def check_manifests(directory):
    kustomization = yaml.safe_load((directory / "kustomization.yaml").read_text())
    made = {entry["name"] for field in ("configMapGenerator", "secretGenerator") for entry in kustomization[field]}
    faults, labels, selectors = [], [], []
    for file in kustomization["resources"]:
        for document in yaml.safe_load_all((directory / file).read_text()):
            kind, name, spec = document["kind"], document["metadata"]["name"], document.get("spec", {})
            if "template" in spec:
                labels.append(spec["template"]["metadata"]["labels"])
                faults += check_pods(kind, name, spec["template"]["spec"], made)
            selector = spec.get("selector") or spec.get("podSelector")
            if selector:
                selectors.append((f"{kind} {name}", selector.get("matchLabels", selector)))
    faults += [f"{who}: nothing has the labels {wanted}" for who, wanted in selectors if wanted not in labels]
    files = {path.name for path in directory.glob("*.yaml")} - {"kustomization.yaml"}
    return faults + [f"{file}: kustomization.yaml does not name it" for file in files - set(kustomization["resources"])]


def main():
    faults = check_playbooks() + check_manifests(DEPLOY / "kubernetes")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
