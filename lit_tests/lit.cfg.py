"""
lit's configuration.

`lit lit_tests` calls our tools inside the lit workers; `lit --param shell=1 lit_tests`
starts a process for each, as users do.
"""

import os
import sysconfig

import lit.formats

from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.tools.testing.lit_format import InProcess

config.name = "xrelay"
config.suffixes = [".mlir", ".relay", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
shell = lit_config.params.get("shell", "0") not in ("", "0")
config.test_format = lit.formats.ShTest() if shell else InProcess()
config.environment["PATH"] = os.pathsep.join(
    (
        sysconfig.get_path("scripts"),
        os.path.dirname(tool("mlir-opt")),
        config.environment["PATH"],
    )
)

# The longer name first: a substitution replaces text wherever it stands.
config.substitutions += [
    (
        "GENERIC_ROUNDTRIP",
        "xrelay-opt --split-input-file --print-op-generic %s"
        " | xrelay-opt --split-input-file | filecheck %s",
    ),
    (
        "ROUNDTRIP",
        "xrelay-opt --split-input-file %s | xrelay-opt --split-input-file | filecheck %s",
    ),
]
