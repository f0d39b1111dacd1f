"""A kernel for arm64 that `app check` runs under qemu (`tools/setup arm64` installs it)."""
import shutil

from app_check_test import COMPILERS, Checks
from harness import main, needs


@needs(shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc"), "what `tools/setup arm64` installs is missing")
class Foreign(Checks):
    def test_a_foreign_kernel_runs_under_qemu(self):
        for added, verdict in ((0, "passed"), (1, "failed")):
            bundle = self.of_platforms(f"foreign-{verdict}", "x86_64-linux", "aarch64-linux")
            for platform in COMPILERS:
                self.compiled(bundle, platform, SIGNED=added)
            code, checks, report = self.check(bundle, ["count=20"], "--platform", "aarch64-linux")
            self.assertEqual((checks["platforms"]["verdict"], code), (verdict, added), report)
            self.assertEqual((report["not_run"], report["stages"][0]["items"]), ("", 20))
            if added:
                self.assertIn("has other bytes when it is computed by the kernel for x86_64-linux", checks["platforms"]["what"])
            else:
                self.assertEqual(checks["platforms"]["what"],
                                 "the kernel for aarch64-linux was run under qemu-aarch64, and agrees with that for x86_64-linux")
                self.assertNotIn("memory", checks)  # the emulator's


if __name__ == "__main__":
    main()
