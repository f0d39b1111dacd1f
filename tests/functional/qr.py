"""Reads a QR code as the console draws it, by zbar: what a phone's camera would read."""
import ctypes
import re

PIXELS = 4  # a module, so that the scanner's lines cross each


def read(path, size):
    """The text of the code whose dark modules the SVG path names, `size` modules a side."""
    width = size * PIXELS
    image = bytearray(b"\xff" * width * width)
    for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", path):
        for row in range(int(y) * PIXELS, (int(y) + 1) * PIXELS):
            at = row * width + int(x) * PIXELS
            image[at:at + PIXELS] = b"\0" * PIXELS
    zbar = ctypes.CDLL("libzbar.so.0")
    for name, result, arguments in (
            ("zbar_image_scanner_create", ctypes.c_void_p, []), ("zbar_image_create", ctypes.c_void_p, []),
            ("zbar_image_set_format", None, [ctypes.c_void_p, ctypes.c_ulong]),
            ("zbar_image_set_size", None, [ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]),
            ("zbar_image_set_data", None, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_void_p]),
            ("zbar_scan_image", ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
            ("zbar_image_first_symbol", ctypes.c_void_p, [ctypes.c_void_p]),
            ("zbar_symbol_get_data", ctypes.c_char_p, [ctypes.c_void_p])):
        getattr(zbar, name).restype, getattr(zbar, name).argtypes = result, arguments
    scanner, seen, pixels = zbar.zbar_image_scanner_create(), zbar.zbar_image_create(), bytes(image)
    zbar.zbar_image_set_format(seen, int.from_bytes(b"Y800", "little"))
    zbar.zbar_image_set_size(seen, width, width)
    zbar.zbar_image_set_data(seen, pixels, len(pixels), None)
    if zbar.zbar_scan_image(scanner, seen) != 1:
        return None
    return zbar.zbar_symbol_get_data(zbar.zbar_image_first_symbol(seen)).decode()
