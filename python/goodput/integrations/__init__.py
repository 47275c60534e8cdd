"""Recording by the events that libraries publish, so that a training loop need not tell everything itself.

One module per library, each imported by name; this package imports none of them.

    from goodput.integrations import jax as goodput_jax

    goodput_jax.install(rec)  # Orbax saves and restores, and compilation

SPDX-License-Identifier: Apache-2.0
"""
