"""`JoinPack` alone: one storage joins its pack at a time."""

from helpers.programs.programs import parse, printed
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.passes.bytes.packs import JoinPack, packs_of
from xrelay.passes.bytes.storages import storages_in
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.support.rewriting import apply_patterns
from xrelay.passes.support.verifier import verify

TEXT = """
func.func @f() {
  %s = memory.alloc_storage 16 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %s1 = memory.alloc_storage 32 align 128 : !memory.storage
  %t1 = memory.alloc_tensor %s1[16] : tensor<4xf32>
  func.return
}
"""


def pattern(module: ModuleOp) -> JoinPack:
    (storages,) = storages_in(module)
    by_region = packs_of(storages.storages, lambda s: s.region, Sizes(), with_lifetimes=True)
    return JoinPack(by_region)


def test_each_storage_joins_alone():
    module = parse(TEXT)
    joins = pattern(module)
    first, second = [op for op in walk(module) if isinstance(op, memory.AllocStorageOp)]
    assert apply_patterns(module, joins, only=[first])
    verify(module)
    (pack,) = [op for op in walk(module) if isinstance(op, memory.PackOp)]
    assert [op.size for op in memory.Packing(pack).slices] == [16]
    assert first.parent is None
    assert second.parent is not None
    assert apply_patterns(module, joins, only=[second])
    verify(module)
    assert [op.size for op in memory.Packing(pack).slices] == [16, 32]
    assert second.parent is None


def test_a_storage_of_no_pack_stays():
    module = parse(TEXT)
    text = printed(module)
    assert not apply_patterns(module, JoinPack([]))
    assert printed(module) == text
