// Files as one ZIP archive (APPNOTE 6.3.10), stored as they are: results are compressed already, mostly. Pieces stay with the browser, which
// may keep them on disk.
const crcOf = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

async function crc32(content: Blob): Promise<number> {
  let crc = 0xffffffff;
  const reader = content.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    for (const byte of part.value) crc = crcOf[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

// Little-endian numbers of two and four bytes.
function record(...fields: [bytes: 2 | 4, value: number][]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

const version = 20, utf8Names = 0x0800, stored = 0, firstDay = 0x21;  // 1980-01-01, which says: no date

// Below 4 GiB altogether, and at most 65,535 files.
export async function zip(files: { name: string; content: Blob }[]): Promise<Blob> {
  const parts: BlobPart[] = [], directory: BlobPart[] = [];
  let at = 0, directoryBytes = 0;
  for (const { name, content } of files) {
    const bytes = new TextEncoder().encode(name);
    const common: [2 | 4, number][] = [[2, version], [2, utf8Names], [2, stored], [2, 0], [2, firstDay], [4, await crc32(content)], [4, content.size], [4, content.size], [2, bytes.length], [2, 0]];
    const head = record([4, 0x04034b50], ...common);
    const entry = record([4, 0x02014b50], [2, version], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]);
    parts.push(head, bytes, content);
    directory.push(entry, bytes);
    at += head.length + bytes.length + content.size;
    directoryBytes += entry.length + bytes.length;
  }
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, directoryBytes], [4, at], [2, 0]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
