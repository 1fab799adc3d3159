"""
Dominators of the blocks of a region.

Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001): immediate
dominators to a fixpoint in reverse postorder. Linear memory (xDSL's `DominanceInfo`
keeps a set for each block), no recursion.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Block


def successors(block: Block) -> Sequence[Block]:
    """Return the blocks that `block` may branch to."""
    last = block.last_op
    return () if last is None else last.successors


def postorder(entry: Block) -> list[Block]:
    """Return the blocks reachable from `entry`, in postorder."""
    order: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, Iterator[Block]]] = [(entry, iter(successors(entry)))]
    while stack:
        block, rest = stack[-1]
        unseen = next((b for b in rest if b not in seen), None)
        if unseen is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(unseen)
            stack.append((unseen, iter(successors(unseen))))
    return order


def dominated_by(entry: Block) -> dict[Block, list[Block]]:
    """
    Return the dominator tree below `entry`.

    It maps each reachable block to those that it immediately dominates, in reverse postorder.
    """
    order = postorder(entry)
    number = {block: i for i, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in successors(block):
            predecessors[successor].append(block)
    idom = {entry: entry}

    def meet(a: Block, b: Block) -> Block:
        while a is not b:
            while number[a] < number[b]:
                a = idom[a]
            while number[b] < number[a]:
                b = idom[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [p for p in predecessors[block] if p in idom]
            new = known[0]
            for other in known[1:]:
                new = meet(new, other)
            if idom.get(block) is not new:
                idom[block] = new
                changed = True

    tree: dict[Block, list[Block]] = {block: [] for block in order}
    for block in reversed(order[:-1]):
        tree[idom[block]].append(block)
    return tree
