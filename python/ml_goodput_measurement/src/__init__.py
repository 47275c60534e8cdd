"""Where the modules lie; programs import them from here, and from the package itself.

SPDX-License-Identifier: Apache-2.0
"""
