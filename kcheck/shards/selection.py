"""Selects the files of one shard: each machine sees the whole input and checks its share, with about the same amount of text."""

from __future__ import annotations


class Share:
    """Share `number` (from 1) of `of`. All files are added in input order before `own_files` is called."""

    def __init__(self, number: int, of: int) -> None:
        self.number = number
        self.of = of
        self._sizes: list[int] = []
        # Imported here, because most runs are not sharded.
        from hashlib import blake2b

        self._digest = blake2b(digest_size=16)

    def add_file(self, path: str, text: str, reason: str = "") -> None:
        """Add the next file of the input: its text, or the reason reason it has none."""
        self._sizes.append(len(text))
        for part in (path, text, reason):
            data = part.encode("utf-8", "surrogatepass")
            self._digest.update(len(data).to_bytes(8, "little"))
            self._digest.update(data)

    @property
    def input(self) -> str:
        """A digest of the input, which is equal on all machines that see the same files."""
        return self._digest.hexdigest()

    @property
    def files(self) -> int:
        return len(self._sizes)

    def own_files(self) -> frozenset[int]:
        """Return the numbers of the files of this share.

        In decreasing order of size, each file is assigned to the share with the least text.
        """
        import heapq

        loads = [(0, part) for part in range(1, self.of + 1)]
        own = []
        for file in sorted(range(len(self._sizes)), key=lambda n: -self._sizes[n]):
            load, part = loads[0]
            # Files without text take time, too.
            heapq.heapreplace(loads, (load + self._sizes[file] + 100, part))
            if part == self.number:
                own.append(file)
        return frozenset(own)
