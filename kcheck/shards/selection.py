"""The files that one of several machines checks: each sees the whole input and takes its part of it, about as much text as the others."""

from __future__ import annotations


class Share:
    """Part `number` (from 1) of `of`. It is shown all files in their order, and then tells which are its own."""

    def __init__(self, number: int, of: int) -> None:
        self.number = number
        self.of = of
        self._sizes: list[int] = []
        # Libraries are loaded when there is use for them: most runs are whole.
        from hashlib import blake2b

        self._seen = blake2b(digest_size=16)

    def see(self, path: str, text: str, why: str = "") -> None:
        """The next file of the input: its text, or why it has none."""
        self._sizes.append(len(text))
        for part in (path, text, why):
            data = part.encode("utf-8", "surrogatepass")
            self._seen.update(len(data).to_bytes(8, "little"))
            self._seen.update(data)

    @property
    def input(self) -> str:
        """A digest of the input: machines that have seen the same have the same."""
        return self._seen.hexdigest()

    @property
    def files(self) -> int:
        return len(self._sizes)

    def mine(self) -> frozenset[int]:
        """The numbers of the files of this part: the largest file goes to whoever has least so far, then the next one."""
        import heapq

        loads = [(0, part) for part in range(1, self.of + 1)]
        mine = []
        for file in sorted(range(len(self._sizes)), key=lambda n: -self._sizes[n]):
            load, part = loads[0]
            # Even a file without text takes some time.
            heapq.heapreplace(loads, (load + self._sizes[file] + 100, part))
            if part == self.number:
                mine.append(file)
        return frozenset(mine)
