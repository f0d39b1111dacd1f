"""A link between a relay (or a host) and its parent: passes TCP connections on, as slowly as it is told, can be cut, and counts."""
import asyncio
import random
import threading

PIECE = 1 << 16
PACKET = 1400
RESENT = 0.3  # seconds until a packet that was lost is sent again


class Bucket:
    """Lets so many bytes a second pass, after a burst of a twentieth of that."""

    def __init__(self, rate):
        self.rate, self.free_at = rate, 0.0
        # What takes turns on a slow line is small, as packets are.
        self.piece = PIECE if rate is None else max(PACKET, min(PIECE, int(rate / 20)))

    async def take(self, count):
        if self.rate is None:
            return
        now = asyncio.get_running_loop().time()
        self.free_at = max(self.free_at, now - 0.05) + count / self.rate
        if self.free_at > now:
            await asyncio.sleep(self.free_at - now)


class Broken(Exception):
    """A connection."""


class Link:
    """All ports are of the loopback. `up` is towards the parent: rates in bytes a second for each direction, all connections
    together, None for as fast as can be; `latency` in seconds, one way; `loss`: the part of packets that is sent twice, the second time
    a while later; `breaks`: a connection breaks after so many bytes on average, at random, both ways together; None: never. May be
    told and asked by any thread."""

    def __init__(self, parent_port, up=None, down=None, latency=0.0, loss=0.0, breaks=None):
        self.parent_port = parent_port
        self.lots = random.Random(1)
        self.shape(up, down, latency, loss, breaks)
        self.bytes = {"up": 0, "down": 0}
        self.crossed = []  # the same of each connection
        self.ends = None  # (way, bytes), of break_at()
        self.connections = 0  # so far
        self.whole, self.silent = True, False
        self.open = set()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.listener = self.do(self.listen())
        self.port = self.listener.sockets[0].getsockname()[1]

    def shape(self, up=None, down=None, latency=0.0, loss=0.0, breaks=None):
        """From now on."""
        self.latency, self.loss, self.breaks = latency, loss, breaks
        self.buckets = {"up": Bucket(up), "down": Bucket(down)}

    def break_at(self, way, count):
        """The connection that moves so many bytes more that way, all together, breaks in front of the last of them; once."""
        self.ends = way, self.bytes[way] + count

    def transferred(self, way):
        """What crossed on connections that moved more than 100 kB in all: those of transfers. Heartbeats and requests for work need
        six minutes for as much."""
        return sum(each[way] for each in self.crossed if sum(each.values()) > 100_000)

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def listen(self):
        return await asyncio.start_server(self.serve, "127.0.0.1", 0, limit=2 * PIECE)

    def cut(self, silent=False):
        """Connections end, and no new ones are made. `silent`: nothing ends, and nothing comes either, as where a cable was pulled."""
        self.do(self.change(False, silent))

    def restore(self):
        self.do(self.change(True, False))

    def close(self):
        self.cut()
        self.do(self.end())
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def change(self, whole, silent):
        self.whole, self.silent = whole, silent
        if not silent:
            for writer in list(self.open):
                writer.transport.abort()

    async def end(self):
        self.listener.close()
        await asyncio.sleep(0)  # who was just accepted begins: asyncio complains of a task that is cancelled before
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def serve(self, reader, writer):
        self.open.add(writer)
        try:
            if not self.whole and not self.silent:
                return
            while self.silent:
                await asyncio.sleep(0.05)
            try:
                parent = await asyncio.open_connection("127.0.0.1", self.parent_port, limit=2 * PIECE)
            except OSError:
                return
            self.connections += 1
            self.open.add(parent[1])
            crossed = {"up": 0, "down": 0}
            self.crossed.append(crossed)
            try:
                await asyncio.gather(self.pass_on(reader, parent[1], "up", crossed), self.pass_on(parent[0], writer, "down", crossed))
            finally:
                self.open.discard(parent[1])
                parent[1].transport.abort()
        except (asyncio.CancelledError, Broken):
            pass  # close(), or by lot
        finally:
            self.open.discard(writer)
            writer.transport.abort()

    async def pass_on(self, reader, writer, way, crossed):
        """Until either side ends. What was on its way when a link fell silent is lost with its connection."""
        try:
            while data := await reader.read(self.buckets[way].piece):
                await self.buckets[way].take(len(data))
                if self.loss and self.lots.random() < 1 - (1 - self.loss) ** (1 + len(data) // PACKET):
                    await asyncio.sleep(RESENT)
                    await self.buckets[way].take(min(PACKET, len(data)))
                if self.silent:
                    await asyncio.sleep(3600)  # ended by restore()
                self.bytes[way] += len(data)
                crossed[way] += len(data)
                if self.ends and self.ends[0] == way and self.bytes[way] >= self.ends[1]:
                    self.ends = None
                    raise Broken
                if self.breaks and self.lots.random() < len(data) / self.breaks:
                    raise Broken
                if self.latency:
                    self.loop.call_later(self.latency, writer.write, data)
                else:
                    writer.write(data)
                await writer.drain()
            await asyncio.sleep(self.latency)
            writer.write_eof()
        except (OSError, RuntimeError):
            pass
