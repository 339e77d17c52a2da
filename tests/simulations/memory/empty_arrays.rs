//! How much memory arrays take that have no items, or few.
//!
//! *Invariant:* an array without items is only its field, on the server and in the shadow.

use repl::prelude::*;
use repl::tools::{Changelist, Class, Scratch};

use crate::allocator::held;

#[derive(Replicated, Default)]
struct Chest {
    #[replicated]
    items: FastArray<u32>,
    #[replicated]
    queue: OrderedFastArray<u32>,
}

/// Compares the chest with its shadow, as a tick of a server does.
fn compare(class: &Class<Chest>, live: &Chest, shadow: &mut Chest) {
    let (mut list, mut scratch) = (Changelist::new(), Scratch::default());
    let all = class.conditions().ordinary();
    class.compare(live, shadow, all, &mut list, &mut Vec::new(), &mut scratch);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn an_array_takes_at_most_64_bytes() {
    assert_eq!(size_of::<FastArray<[u64; 9]>>(), 64);
    assert_eq!(size_of::<OrderedFastArray<[u64; 9]>>(), 56);
}

#[test]
fn an_array_without_items_has_no_memory_beside_its_field() {
    let before = held();
    let mut chest = Chest::default();
    chest.items.extend(Vec::<u32>::new());
    chest.queue.extend(Vec::<u32>::new());
    chest.items.clear();
    chest.queue.clear();
    chest.items.sort();
    chest.queue.sort();
    chest.items.iter_mut().for_each(|mut item| *item += 1);
    chest.queue.iter_mut().for_each(|mut item| *item += 1);
    let copy = Chest { items: chest.items.clone(), queue: chest.queue.clone() };
    assert_eq!(held() - before, 0);
    let class = Class::<Chest>::new();
    let mut shadow = class.shadow_of(&Chest::default());
    // The first comparison makes the lists of the class.
    compare(&class, &Chest::default(), &mut class.shadow_of(&Chest::default()));
    let before = held();
    for _ in 0..3 {
        compare(&class, &chest, &mut shadow);
        compare(&class, &copy, &mut shadow);
    }
    assert_eq!(held() - before, 0);
}

#[test]
fn a_short_array_takes_some_hundred_bytes_with_its_shadow_and_its_log() {
    let class = Class::<Chest>::new();
    compare(&class, &Chest::default(), &mut class.shadow_of(&Chest::default()));
    let taken = |fill: fn(&mut Chest), edit: fn(&mut Chest)| {
        let before = held();
        let (mut chest, mut shadow) = (Chest::default(), class.shadow_of(&Chest::default()));
        fill(&mut chest);
        compare(&class, &chest, &mut shadow);
        edit(&mut chest);
        compare(&class, &chest, &mut shadow);
        held() - before
    };
    let items = taken(|chest| _ = chest.items.push(1), |chest| chest.items[0] += 1);
    let queue = taken(|chest| _ = chest.queue.push(1), |chest| chest.queue[0] += 1);
    assert!(items <= 350 && queue <= 1_700, "{items} B, and {queue} B if it is ordered");
}
