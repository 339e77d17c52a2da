use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use repl::{FastArrayItem, NetSerialize, ObjectRef, Replicated};

#[derive(NetSerialize, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
struct Place {
    x: i16,
    y: i16,
}

#[derive(FastArrayItem, Default)]
struct Tile {
    height: u8,
    tags: HashSet<String>,
}

#[derive(Replicated, Default)]
struct Level<K: repl::Property + Clone + Ord> {
    #[replicated(max_len = 64)]
    scores: HashMap<ObjectRef<()>, u32>,
    #[replicated]
    tiles: BTreeMap<Place, Tile>,
    #[replicated(range = 0..=100, notify = on_levels)]
    levels: HashMap<u8, u8>,
    #[replicated(max_len = 4, condition = OwnerOnly)]
    open: BTreeSet<K>,
    #[replicated]
    deep: Option<HashMap<(u8, bool), Vec<BTreeMap<char, f32>>>>,
}

impl<K: repl::Property + Clone + Ord> Level<K> {
    fn on_levels(&mut self, _old: &HashMap<u8, u8>) {}
}

#[test]
fn s17_maps_and_sets_are_fields() {
    assert_eq!(<Level<u8> as Replicated>::LAYOUT.counts().handles, 5);
}
