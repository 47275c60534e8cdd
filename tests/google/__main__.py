"""`python3 -m tests.google [PORT]`: serves until it is killed, and says where on its first line.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from .server import FakeGoogle

google = FakeGoogle(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
print(google.url, flush=True)
google.serve_forever()
