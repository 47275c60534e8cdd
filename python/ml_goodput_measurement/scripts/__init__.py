"""Programs that come with the package.

SPDX-License-Identifier: Apache-2.0
"""
