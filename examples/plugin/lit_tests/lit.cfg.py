"""lit's configuration: use the tools of the environment in which lit runs."""

import os
import sysconfig

import lit.formats

config.name = "xrelay-example-plugin"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_format = lit.formats.ShTest()
config.environment["PATH"] = os.pathsep.join(
    (sysconfig.get_path("scripts"), config.environment["PATH"])
)
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
