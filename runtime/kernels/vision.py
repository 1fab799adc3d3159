"""Operators on boxes in images."""

from collections.abc import Sequence

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, flag, integer


def get_valid_counts(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Move rows of a score above the threshold, and of a class that is not negative, forward."""
    (x, threshold), (counts, rows, indices) = ins, outs
    id_index, score_index = integer(attrs, "id_index"), integer(attrs, "score_index")

    def select() -> None:
        valid = x[:, :, score_index] > threshold.astype(x.dtype)
        if id_index >= 0:
            valid &= x[:, :, id_index] >= 0
        rows.fill(-1)
        indices.fill(-1)
        for n, chosen in enumerate(valid):
            (places,) = np.nonzero(chosen)
            counts[n] = len(places)
            rows[n, : len(places)] = x[n, places]
            indices[n, : len(places)] = places

    return select


def overlaps(boxes: Array, box: Array) -> Array:
    """Return intersection over union of `box` with each of `boxes`, given by two corners."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    from_, to = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    inner = np.maximum(np.minimum(high, to) - np.maximum(low, from_), 0).prod(1)
    union = (high - low).prod(1) + (to - from_).prod() - inner
    return np.divide(inner, union, out=np.zeros_like(inner), where=union > 0)


def non_max_suppression(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Consider rows by descending score; each that remains removes those that overlap it."""
    x, counts, indices, most, threshold = ins
    top_k, coord_start = integer(attrs, "top_k"), integer(attrs, "coord_start")
    score_index, id_index = integer(attrs, "score_index"), integer(attrs, "id_index")
    of_any_class = flag(attrs, "force_suppress") or id_index < 0

    def order_and_kept(n: int) -> tuple[Array, Array]:
        """Return rows in the order considered, and which of them remain."""
        count = min(max(int(counts[n]), 0), x.shape[1])
        rows = x[n, :count].astype(np.float64)
        order, limit = np.arange(count), float(threshold)
        if limit > 0:
            order = np.argsort(-rows[:, score_index], kind="stable")
            order = order[:top_k] if top_k > 0 else order
        rows = rows[order]
        kept = rows[:, id_index] >= 0 if id_index >= 0 else np.ones(len(order), np.bool_)
        if limit > 0:
            boxes = rows[:, coord_start : coord_start + 4]
            for i in range(len(order)):
                if kept[i]:
                    near = overlaps(boxes[i + 1 :], boxes[i]) >= limit
                    if not of_any_class:
                        near &= rows[i + 1 :, id_index] == rows[i, id_index]
                    kept[i + 1 :] &= ~near
        if int(most) > 0:
            kept &= np.cumsum(kept) <= int(most)
        return order, kept

    def suppress() -> None:
        for n in range(len(x)):
            order, kept = order_and_kept(n)
            if flag(attrs, "return_indices"):
                remaining = order[kept]
                outs[0][n, : len(remaining)] = indices[n, remaining]
                outs[0][n, len(remaining) :] = -1
                outs[1][n] = len(remaining)
                continue
            outs[0][n] = -1
            places = np.flatnonzero(kept)
            if flag(attrs, "invalid_to_bottom"):
                places = np.arange(len(places))
            outs[0][n, places] = x[n, order[kept]]

    return suppress


def all_class_non_max_suppression(
    attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]
) -> Thunk:
    """For each class, consider boxes by descending score; each selected removes what overlaps."""
    (boxes, scores, most, iou, least), (rows, count) = ins, outs

    def select() -> None:
        total = 0
        for n, of_classes in enumerate(scores):
            for c, of_class in enumerate(of_classes):
                left = np.argsort(-of_class, kind="stable")
                left = left[of_class[left] > least.astype(of_class.dtype)]
                for _ in range(max(int(most), 0)):
                    if not len(left):
                        break
                    rows[total] = n, c, left[0]
                    total += 1
                    near = overlaps(boxes[n, left[1:]], boxes[n, left[0]]) > iou.astype(boxes.dtype)
                    left = left[1:][~near]
        rows[total:] = 0
        count[0] = total

    return select


KERNELS: dict[str, Bind] = {
    "relay.vision.all_class_non_max_suppression": all_class_non_max_suppression,
    "relay.vision.get_valid_counts": get_valid_counts,
    "relay.vision.non_max_suppression": non_max_suppression,
}
