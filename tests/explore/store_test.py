"""The store and the journal, whatever ends in the middle."""

import cases
from ako.explore.plan import PlanError
from ako.explore.store import Search, Store


class Stores(cases.Case):
    def keep(self, store, key, text="data", **result):
        place = store.workplace(key)
        (place / "file").write_text(text)
        store.keep(key, place, {"score": 1, **result})

    def test_keeps_and_drops(self):
        store = Store(self.folder / "store")
        self.assertIsNone(store.result("a"))
        self.keep(store, "a")
        self.assertEqual(store.result("a")["bytes"], 4)
        self.assertEqual((store.data("a") / "file").read_text(), "data")
        store.drop("a")
        self.assertIsNone(store.data("a"))
        self.assertEqual(store.result("a")["score"], 1)
        self.keep(store, "a", "again")  # computed once more
        self.assertEqual((store.data("a") / "file").read_text(), "again")

    def test_who_comes_second_changes_nothing(self):
        store = Store(self.folder / "store")
        late = store.workplace("a")
        (late / "file").write_text("late")
        place = store.workplace("a")
        (place / "file").write_text("first")
        # The second one is of a worker that was taken for lost, and goes on.
        store.keep("a", place, {"score": 1})
        late.mkdir(exist_ok=True)
        (late / "file").write_text("late")
        store.keep("a", late, {"score": 2})
        self.assertEqual((store.data("a") / "file").read_text(), "first")
        self.assertEqual(store.result("a")["score"], 1)
        self.assertEqual(store.left_behind("a"), [])

    def test_one_search_a_folder_and_a_store(self):
        store = Store(self.folder / "store")
        with Search(self.folder / "s", store, "digest", False) as search:
            search.write({"config": {"x": 1}, "trial": 0})
            with self.assertRaisesRegex(PlanError, "another search"):
                Search(self.folder / "s", store, "digest", True)
            with self.assertRaisesRegex(PlanError, "with --store"):
                Search(self.folder / "other", store, "digest", False)
        with self.assertRaisesRegex(PlanError, "--resume goes on"):
            Search(self.folder / "s", store, "digest", False)
        with self.assertRaisesRegex(PlanError, "another plan"):
            Search(self.folder / "s", store, "other", True)
        with (self.folder / "s/journal.jsonl").open("a") as file:
            file.write('{"stage": "ha')  # the power went
        with Search(self.folder / "s", store, "digest", True) as search:
            self.assertEqual([line["config"] for line in search.lines[1:]], [{"x": 1}])
            search.write({"stage": "b"})
        with Search(self.folder / "s", store, "digest", True) as search:
            self.assertEqual(search.lines[-1]["stage"], "b")

    def test_time_goes_on_where_an_earlier_process_ended(self):
        store = Store(self.folder / "store")
        with Search(self.folder / "s", store, "digest", False) as search:
            search.began -= 100
            search.write({"stage": "a"})
        with Search(self.folder / "s", store, "digest", True) as search:
            self.assertGreaterEqual(search.seconds(), 100)
