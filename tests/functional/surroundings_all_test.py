"""Every command of surroundings_test.py in every surrounding: the long form."""
import os

os.environ["GLEANER_SURROUNDINGS"] = "all"  # read by the module below

from harness import main  # noqa: E402
from surroundings_test import Surroundings  # noqa: E402, F401

if __name__ == "__main__":
    main()
