//! Tests of the queue of updates.

use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::{Guid, HandleSet, ObjectRef, Program, Replicated};
use repl_derive::Replicated;
use repl_link::parts::ROUND_TICKS;

use super::queue::{LEAST, Updates};
use super::update::{Update, UpdateKind};
use crate::body::forest::Forest;
use crate::body::removal::CloseReason;

#[derive(Replicated, Default)]
#[replicated(crate = "repl_core")]
struct Door {
    #[replicated]
    angle: u8,
    #[replicated]
    is_open: bool,
}

/// A queue that records the updates of one packet after another.
struct Told {
    updates: Updates,
    class: Program,
    tick: u64,
}

impl Told {
    fn new() -> Self {
        let mut updates = Updates::default();
        assert!(updates.begin());
        Self { updates, class: Program::build(Door::LAYOUT), tick: 0 }
    }

    /// Records the updates that `fill` makes as one packet, in a world without subobjects.
    fn packet(&mut self, fill: impl FnOnce(&mut Updates, &Program)) {
        self.packet_in(&Forest::default(), fill);
    }

    fn packet_in(&mut self, forest: &Forest, fill: impl FnOnce(&mut Updates, &Program)) {
        self.tick += 1;
        self.updates.begin_packet(Some(self.tick));
        fill(&mut self.updates, &self.class);
        self.updates.end_packet(forest, |guid| guid.generation() == NonZeroU32::MIN);
    }

    fn left(&mut self) -> Vec<Update> {
        std::iter::from_fn(|| self.updates.pop()).collect()
    }

    /// Polls all updates, and returns for each the object and the kind.
    fn polled(&mut self) -> Vec<(ObjectRef<()>, UpdateKind)> {
        self.left().into_iter().map(|update| (update.object, update.what)).collect()
    }
}

const GONE: UpdateKind = UpdateKind::Despawned(CloseReason::Relevancy);

fn guid(number: u32) -> Guid {
    Guid::new(number % 7, NonZeroU32::MIN.saturating_add(number))
}

fn object(number: u32) -> ObjectRef<()> {
    ObjectRef::new(guid(number))
}

fn in_slot(slot: u32) -> Guid {
    Guid::new(slot, NonZeroU32::MIN)
}

fn handles(handles: &[u32]) -> HandleSet {
    handles.iter().copied().collect()
}

fn names(update: &Update) -> Vec<&'static str> {
    update.properties().iter().collect()
}

#[test]
fn objects_that_were_created_together_are_told_one_by_one() {
    let mut told = Told::new();
    told.packet(|updates, class| {
        updates.spawned(in_slot(3), 3, class);
        updates.changed((in_slot(8), 2), class, &handles(&[2]));
    });
    let first = told.updates.pop().expect("an update");
    assert_eq!(
        (first.tick, first.object, &first.what),
        (1, ObjectRef::new(in_slot(3)), &UpdateKind::Spawned)
    );
    assert_eq!(names(&first), ["angle", "is_open"]);
    told.updates.forget(ObjectRef::new(in_slot(4)));
    assert_eq!(told.updates.pop().map(|update| update.object), Some(ObjectRef::new(in_slot(5))));
    let changed = told.left();
    assert_eq!(changed.iter().map(names).collect::<Vec<_>>(), [["is_open"], ["is_open"]]);
    assert_eq!(changed[1].cast::<Door>(), Some(ObjectRef::new(in_slot(9))));
}

#[test]
fn nothing_is_recorded_before_the_first_poll() {
    let mut told = Told { updates: Updates::default(), ..Told::new() };
    told.packet(|updates, class| {
        updates.spawned(in_slot(1), 1, class);
        updates.changed((in_slot(1), 1), class, &handles(&[1]));
        updates.push(object(9), GONE, class);
    });
    assert_eq!(told.polled(), []);
    assert_eq!(told.updates.take_unreported(), [object(9)], "nothing will tell of its removal");
}

#[test]
fn what_arrives_of_an_object_in_one_packet_is_one_change() {
    let mut told = Told::new();
    for _ in 0..2 {
        told.packet(|updates, class| {
            updates.changed((in_slot(1), 1), class, &handles(&[1]));
            updates.changed((in_slot(1), 1), class, &handles(&[2]));
        });
    }
    let changes = told.left();
    assert_eq!(changes.iter().map(|change| change.tick).collect::<Vec<_>>(), [1, 2]);
    assert!(changes.iter().all(|change| names(change) == ["angle", "is_open"]));
}

#[test]
fn references_that_were_read_again_belong_to_the_change_of_their_packet() {
    let mut told = Told::new();
    for _ in 0..2 {
        told.packet(|updates, class| {
            updates.changed((in_slot(1), 2), class, &handles(&[1]));
            updates.push(object(9), UpdateKind::Owner, class);
            updates.reread(in_slot(1), class, &handles(&[2]));
        });
    }
    let left = told.left();
    let shown: Vec<_> = left.iter().map(|update| (update.tick, update.object, names(update))).collect();
    let of_packet = |tick| {
        [
            (tick, ObjectRef::new(in_slot(2)), vec!["angle"]),
            (tick, object(9), vec![]),
            (tick, ObjectRef::new(in_slot(1)), vec!["angle", "is_open"]),
        ]
    };
    assert_eq!(shown, [of_packet(1), of_packet(2)].concat());
}

#[test]
fn what_brings_no_property_is_no_change() {
    let mut told = Told::new();
    told.packet(|updates, class| updates.changed((in_slot(1), 1), class, &handles(&[])));
    assert_eq!(told.polled(), []);
}

#[test]
fn an_object_comes_before_its_subobjects_and_what_ends_before_both() {
    let (root, part, leaf, old) = (in_slot(9), in_slot(4), in_slot(2), object(2));
    let mut forest = Forest::default();
    forest.set(4, Some(9));
    forest.set(2, Some(4));
    let mut told = Told::new();
    told.packet_in(&forest, |updates, class| {
        updates.spawned_below(leaf, 1, class);
        updates.push(ObjectRef::new(leaf), UpdateKind::Owner, class);
        updates.spawned_below(part, 1, class);
        updates.changed((in_slot(6), 1), class, &handles(&[1]));
        updates.spawned(root, 1, class);
        updates.changed((guid(2), 1), class, &handles(&[1]));
        updates.push(old, GONE, class);
    });
    let [root, part, leaf, six] = [root, part, leaf, in_slot(6)].map(ObjectRef::new);
    let spawned = |object| (object, UpdateKind::Spawned);
    let expected = [
        (old, UpdateKind::Changed),
        (old, GONE),
        spawned(root),
        spawned(part),
        spawned(leaf),
        (leaf, UpdateKind::Owner),
        (six, UpdateKind::Changed),
    ];
    assert_eq!(told.polled(), expected);
}

#[test]
fn a_packet_is_told_after_the_one_before_it_also_if_both_have_families() {
    let mut forest = Forest::default();
    forest.set(4, Some(9));
    forest.set(5, Some(8));
    let mut told = Told::new();
    for (root, part) in [(9, 4), (8, 5)] {
        told.packet_in(&forest, |updates, class| {
            updates.spawned_below(in_slot(part), 1, class);
            updates.spawned(in_slot(root), 1, class);
        });
    }
    let slots: Vec<_> = told.left().iter().filter_map(|update| Some(update.object.guid()?.slot())).collect();
    assert_eq!(slots, [9, 4, 8, 5]);
}

#[test]
fn objects_that_come_and_go_unseen_do_not_pile_up_and_nothing_else_is_left_out() {
    let mut told = Told::new();
    let known = object(1_000_000);
    told.packet(|updates, class| updates.push(known, GONE, class));
    for number in 0..100_000 {
        told.packet(|updates, class| {
            updates.spawned(guid(number), 1, class);
            updates.push(object(number), UpdateKind::Owner, class);
            updates.push(object(number), GONE, class);
        });
        assert!(told.updates.len() <= LEAST + 3);
    }
    told.packet(|updates, class| updates.spawned(guid(100_000), 1, class));
    told.updates.thin_out();
    assert_eq!(told.updates.take_unreported().len(), 100_000);
    assert_eq!(told.polled(), [(known, GONE), (object(100_000), UpdateKind::Spawned)]);
}

#[test]
fn all_changes_of_an_object_become_one_and_none_if_it_is_new() {
    let mut told = Told::new();
    for number in 0..100_000_u32 {
        told.packet(|updates, class| {
            if number == 50 {
                updates.spawned(in_slot(8), 1, class);
            }
            updates.changed((in_slot(5), 1), class, &handles(&[1 + number % 2]));
            updates.changed((in_slot(8), 1), class, &handles(&[1]));
        });
        assert!(told.updates.len() <= LEAST + 2);
    }
    told.updates.thin_out();
    let left = told.left();
    let objects: Vec<_> =
        left.iter().map(|update| (update.object, update.what.clone(), update.tick)).collect();
    let [five, eight] = [5, 8].map(|slot| ObjectRef::new(in_slot(slot)));
    let before = (eight, UpdateKind::Changed, 50);
    assert_eq!(objects, [before, (eight, UpdateKind::Spawned, 51), (five, UpdateKind::Changed, 100_000)]);
    assert_eq!(names(&left[2]), ["angle", "is_open"]);
}

#[test]
fn an_object_that_is_spawned_and_removed_again_is_told_as_despawned() {
    let mut told = Told::new();
    told.packet(|updates, class| {
        updates.push(object(1), GONE, class);
        updates.spawned(guid(1), 1, class);
        updates.push(object(1), UpdateKind::Owner, class);
        updates.push(object(1), UpdateKind::Owner, class);
    });
    told.updates.thin_out();
    assert_eq!(told.updates.len(), 3);
    told.packet(|updates, class| updates.push(object(1), GONE, class));
    told.updates.thin_out();
    assert_eq!(told.polled(), [(object(1), GONE)]);
}

#[test]
fn what_was_known_and_ended_is_told_once_and_its_changes_are_not() {
    let mut told = Told::new();
    told.packet(|updates, class| {
        updates.changed((guid(1), 1), class, &handles(&[1]));
        updates.push(object(1), UpdateKind::Owner, class);
        updates.push(object(1), UpdateKind::TornOff, class);
        updates.push(object(1), GONE, class);
        updates.changed((guid(2), 1), class, &handles(&[1]));
        updates.push(object(2), UpdateKind::Owner, class);
        updates.push(object(2), UpdateKind::Unbound(Arc::from("door")), class);
    });
    told.updates.thin_out();
    assert_eq!(told.polled(), [(object(1), GONE), (object(2), UpdateKind::Unbound(Arc::from("door")))]);
}

#[test]
fn s199_the_end_of_what_was_told_to_be_bound_is_told_before_another_object_is_bound() {
    let mut told = Told::new();
    let door: Arc<str> = Arc::from("door");
    let (bound, unbound) = (UpdateKind::Bound(door.clone()), UpdateKind::Unbound(door));
    told.packet(|updates, class| {
        updates.push(object(1), unbound.clone(), class);
        for number in 2..5 {
            updates.push(object(number), bound.clone(), class);
            updates.push(object(number), unbound.clone(), class);
        }
        updates.push(object(5), bound.clone(), class);
    });
    told.updates.thin_out();
    assert_eq!(told.polled(), [(object(1), unbound), (object(5), bound)]);
}

#[test]
fn an_object_that_the_user_removed_is_forgotten_but_not_its_end_before_it_came_again() {
    let mut told = Told::new();
    told.packet(|updates, class| {
        updates.changed((guid(1), 1), class, &handles(&[1]));
        updates.push(object(1), GONE, class);
        updates.spawned(guid(1), 1, class);
        updates.push(object(2), UpdateKind::TornOff, class);
        updates.push(object(1), UpdateKind::TornOff, class);
    });
    told.updates.forget(object(1));
    let expected = [(object(1), UpdateKind::Changed), (object(1), GONE), (object(2), UpdateKind::TornOff)];
    assert_eq!(told.polled(), expected);
}

#[test]
fn s199_the_last_update_of_each_path_is_kept() {
    let mut told = Told::new();
    let (door, hatch): (Arc<str>, Arc<str>) = (Arc::from("door"), Arc::from("hatch"));
    let destroyed = |path: &Arc<str>| UpdateKind::PathDestroyed(path.clone());
    told.packet(|updates, class| {
        updates.push(ObjectRef::default(), destroyed(&door), class);
        for number in 0..100 {
            updates.push(object(number), UpdateKind::Bound(door.clone()), class);
            updates.push(object(number), UpdateKind::Owner, class);
            updates.push(object(number), UpdateKind::Unbound(door.clone()), class);
        }
        updates.push(ObjectRef::default(), destroyed(&door), class);
        for number in 200..300 {
            updates.spawned(guid(number), 1, class);
            updates.push(object(number), UpdateKind::UnknownPath(Arc::from("gate")), class);
            updates.push(object(number), GONE, class);
        }
        // The path is bound again, so the earlier update that it was destroyed is no longer needed.
        updates.push(ObjectRef::default(), destroyed(&hatch), class);
        updates.push(object(500), UpdateKind::Bound(hatch.clone()), class);
    });
    told.updates.thin_out();
    let unbound = (object(99), UpdateKind::Unbound(door.clone()));
    let bound = (object(500), UpdateKind::Bound(hatch));
    assert_eq!(told.polled(), [unbound, (ObjectRef::default(), destroyed(&door)), bound]);
}

#[test]
fn s199_objects_that_come_and_go_do_not_make_the_queue_long() {
    let mut told = Told::new();
    let door: Arc<str> = Arc::from("door");
    for _ in 0..10_000 {
        told.packet(|updates, class| {
            updates.push(object(1), UpdateKind::Bound(door.clone()), class);
            updates.push(object(1), UpdateKind::Unbound(door.clone()), class);
            updates.push(ObjectRef::default(), UpdateKind::PathDestroyed(door.clone()), class);
        });
        assert!(told.updates.len() <= LEAST + 3, "{}", told.updates.len());
    }
}

#[test]
fn what_refers_to_a_new_subobject_has_changed_after_it_came() {
    let (root, part) = (in_slot(9), in_slot(4));
    let mut forest = Forest::default();
    forest.set(4, Some(9));
    let mut told = Told::new();
    told.packet_in(&forest, |updates, class| {
        updates.changed((root, 1), class, &handles(&[1]));
        updates.spawned_below(part, 1, class);
        updates.reread(root, class, &handles(&[2]));
        updates.reread(part, class, &handles(&[2]));
    });
    let came = (ObjectRef::new(part), UpdateKind::Spawned);
    assert_eq!(told.polled(), [came, (ObjectRef::new(root), UpdateKind::Changed)], "what came has no change");
}

#[test]
fn s199_the_end_of_what_was_spawned_and_then_placed_is_not_lost() {
    let (mut told, path): (_, Arc<str>) = (Told::new(), Arc::from("door"));
    told.packet(|updates, class| {
        updates.spawned(guid(1), 1, class);
        updates.push(object(1), UpdateKind::UnknownPath(path.clone()), class);
        updates.push(object(1), UpdateKind::Unbound(path.clone()), class);
        updates.push(object(1), UpdateKind::Bound(path.clone()), class);
        updates.push(object(1), GONE, class);
    });
    told.updates.thin_out();
    assert!(
        told.polled().iter().all(|(_, what)| *what != UpdateKind::Spawned),
        "nothing comes and never ends"
    );
}

#[test]
fn s199_the_ends_of_what_was_never_told_to_be_bound_do_not_pile_up() {
    let (mut told, path): (_, Arc<str>) = (Told::new(), Arc::from("door"));
    told.packet(|updates, class| {
        for number in 1..4 {
            updates.spawned(guid(number), 1, class);
            updates.push(object(number), UpdateKind::Unbound(path.clone()), class);
        }
    });
    told.updates.thin_out();
    assert_eq!(told.polled(), [(object(3), UpdateKind::Unbound(path))]);
}

#[test]
fn s210_what_was_bound_and_torn_off_has_come_although_another_object_is_bound() {
    let (mut told, path): (_, Arc<str>) = (Told::new(), Arc::from("door"));
    told.packet(|updates, class| {
        updates.push(object(1), UpdateKind::Bound(path.clone()), class);
        updates.push(object(1), UpdateKind::TornOff, class);
        updates.push(object(2), UpdateKind::Bound(path.clone()), class);
    });
    told.updates.thin_out();
    let bound = |number| (object(number), UpdateKind::Bound(path.clone()));
    assert_eq!(told.polled(), [bound(1), (object(1), UpdateKind::TornOff), bound(2)]);
}

#[test]
fn ticks_go_back_only_with_a_session() {
    let mut told = Told::new();
    let mut ticks = Vec::new();
    for tick in [Some(5), Some(3), None] {
        told.updates.begin_packet(tick);
        told.updates.push(object(1), GONE, &told.class);
        ticks.extend(told.updates.pop().map(|update| update.tick));
    }
    told.updates.begin_session();
    told.updates.begin_packet(Some(1));
    told.updates.push(object(1), GONE, &told.class);
    ticks.extend(told.updates.pop().map(|update| update.tick));
    assert_eq!(ticks, [5, 5, 5, 1]);
}

#[test]
fn the_memory_of_a_burst_is_freed_after_rounds_without_one() {
    let mut told = Told::new();
    told.packet(|updates, class| {
        (0..40_000).for_each(|slot| updates.push(object(slot), UpdateKind::Owner, class));
    });
    assert_eq!(told.left().len(), 40_000);
    assert!(told.updates.capacity() >= 40_000);
    // These packets are like those of a server whose objects do not change: few and small.
    for _ in 0..4 {
        told.tick += ROUND_TICKS;
        told.packet(|updates, class| updates.push(object(3), UpdateKind::Owner, class));
        assert_eq!(told.left().len(), 1);
    }
    assert!(told.updates.capacity() <= 64, "{}", told.updates.capacity());
}

#[test]
fn s241_an_object_that_came_back_into_sight_is_told_once() {
    let mut told = Told::new();
    let (out, back) = (UpdateKind::OutOfSight, UpdateKind::BackInSight);
    told.packet(|updates, class| {
        updates.changed((guid(1), 1), class, &handles(&[1]));
        for _ in 0..3 {
            updates.push(object(1), out.clone(), class);
            updates.push(object(1), back.clone(), class);
            updates.changed((guid(1), 1), class, &handles(&[1]));
        }
        updates.push(object(2), back.clone(), class);
        updates.push(object(2), out.clone(), class);
        updates.spawned(guid(3), 1, class);
        updates.push(object(3), out.clone(), class);
        updates.push(object(3), back.clone(), class);
        updates.push(object(4), out.clone(), class);
        updates.push(object(4), GONE, class);
    });
    told.updates.thin_out();
    let expected = [
        (object(1), back.clone()),
        (object(2), back),
        (object(2), out),
        (object(3), UpdateKind::Spawned),
        (object(4), GONE),
    ];
    assert_eq!(told.polled(), expected);
}

#[test]
fn s241_an_object_has_changed_before_it_goes_out_of_sight_although_new_subobjects_are_told_first() {
    for end in [UpdateKind::OutOfSight, UpdateKind::TornOff] {
        let mut told = Told::new();
        let mut forest = Forest::default();
        forest.set(5, Some(4));
        told.packet_in(&forest, |updates, class| {
            updates.changed((in_slot(2), 1), class, &handles(&[1]));
            updates.push(ObjectRef::new(in_slot(2)), end.clone(), class);
            updates.spawned_below(in_slot(5), 1, class);
            updates.spawned(in_slot(4), 1, class);
        });
        let kinds = [(4, UpdateKind::Spawned), (5, UpdateKind::Spawned), (2, UpdateKind::Changed), (2, end)];
        let expected: Vec<_> = kinds.map(|(slot, kind)| (ObjectRef::new(in_slot(slot)), kind)).into();
        assert_eq!(told.polled(), expected);
    }
}
