//! Reported: <https://github.com/simgine/bevy_replicon/issues/756> (and issue 355 there).
//!
//! A parent is despawned while a child is hidden, or was removed already. The client keeps a child without a
//! parent, or is told twice that the child is gone. Users expect one removal of each object that the client
//! has, and the removal of a child before the removal of its parent.

use repl::prelude::*;
use repl::sim::Rng;

use crate::step_losing;
use crate::support::Room;

#[derive(Replicated, Default)]
struct Node {
    #[replicated]
    number: u32,
    #[replicated]
    up: ObjectRef<Self>,
}

/// A root with a child. The child has a child too, the leaf.
struct Family {
    room: Room,
    root: ObjectRef<Node>,
    child: ObjectRef<Node>,
    leaf: ObjectRef<Node>,
}

impl Family {
    fn new() -> Self {
        let register = |client: &mut Client| _ = client.register::<Node>();
        let (mut room, (root, child, leaf)) =
            Room::furnished(ServerConfig::default(), register, 1, |server| {
                let root = server.spawn(Node { number: 1, ..Node::default() });
                let below = |number, up| Node { number, up };
                let child = server.object(root).spawn_subobject(below(2, root)).expect("the root exists");
                let leaf = server.object(child).spawn_subobject(below(3, child)).expect("the child exists");
                (root, child, leaf)
            });
        room.polled(0);
        Self { room, root, child, leaf }
    }

    /// Returns the objects that have ended, in the order of their ends.
    fn ends(&mut self) -> Vec<ObjectRef<()>> {
        let ended = |(object, what)| matches!(what, UpdateKind::Despawned(_)).then_some(object);
        self.room.polled(0).into_iter().filter_map(ended).collect()
    }

    fn all(&self) -> Vec<ObjectRef<()>> {
        vec![self.leaf.erase(), self.child.erase(), self.root.erase()]
    }
}

#[test]
fn s202_each_object_ends_once_and_children_end_first() {
    let acts: [fn(&mut Family); 6] = [
        |family| family.room.server.despawn(family.root),
        |family| {
            family.room.server.despawn(family.child);
            family.room.server.despawn(family.root);
        },
        |family| {
            family.room.server.despawn(family.leaf);
            step_losing(&mut family.room, true, false);
            family.room.server.despawn(family.root);
        },
        |family| {
            let id = family.room.guests[0].id;
            family.room.server.object(family.child).set_visible(id, false);
            family.room.server.despawn(family.root);
        },
        |family| {
            let id = family.room.guests[0].id;
            family.room.server.object(family.root).set_visible(id, false);
        },
        |family| {
            family.room.server[family.root].number = 7;
            family.room.server[family.leaf].number = 9;
            family.room.server.despawn(family.root);
        },
    ];
    for act in acts {
        for losses in [0, 1, 3] {
            let mut family = Family::new();
            act(&mut family);
            (0..losses).for_each(|_| step_losing(&mut family.room, true, false));
            family.room.settle();
            assert_eq!(family.ends(), family.all());
        }
    }
}

#[test]
fn s210_a_child_that_was_torn_off_is_kept_when_its_family_is_despawned_before_the_client_heard_of_it() {
    for losses in [0, 1, 3] {
        let mut family = Family::new();
        let Family { root, child, leaf, .. } = family;
        let twin = family.room.server.object(child).spawn_subobject(Node { number: 4, up: child });
        let twin = twin.expect("the child exists");
        family.room.settle();
        family.room.polled(0);
        family.room.server.object(leaf).tear_off();
        step_losing(&mut family.room, true, true);
        family.room.server.despawn(root);
        (0..losses).for_each(|_| step_losing(&mut family.room, true, false));
        family.room.settle();
        let ended = |(object, what)| match what {
            UpdateKind::TornOff => Some((object, true)),
            UpdateKind::Despawned(_) => Some((object, false)),
            _ => None,
        };
        let ends: Vec<_> = family.room.polled(0).into_iter().filter_map(ended).collect();
        assert_eq!(ends.iter().filter(|(object, _)| *object == twin.erase()).count(), 1);
        let others: Vec<_> = ends.into_iter().filter(|(object, _)| *object != twin.erase()).collect();
        assert_eq!(others, [(leaf.erase(), true), (child.erase(), false), (root.erase(), false)]);
        assert_eq!(family.room.client().get(leaf).map(|node| node.number), Some(3), "it is kept");
    }
}

#[test]
fn s210_a_family_that_is_torn_off_and_despawned_at_once_is_told_from_its_leaves() {
    for losses in [0, 1, 3] {
        let mut family = Family::new();
        family.room.server.object(family.root).tear_off();
        family.room.server.despawn(family.root);
        (0..losses).for_each(|_| step_losing(&mut family.room, true, false));
        family.room.settle();
        let expected: Vec<_> = family.all().into_iter().map(|object| (object, UpdateKind::TornOff)).collect();
        assert_eq!(family.room.polled(0), expected);
    }
}

#[test]
fn children_end_before_their_parents_whatever_is_lost() {
    for seed in 1..=300 {
        let mut family = Family::new();
        let mut rng = Rng::new(seed);
        let (root, child, leaf) = (family.root, family.child, family.leaf);
        for object in [leaf, child, root] {
            if rng.chance(0.3) {
                family.room.server[object].number += 1;
            }
            if object == root || rng.chance(0.5) {
                family.room.server.despawn(object);
            }
            if rng.chance(0.5) {
                step_losing(&mut family.room, rng.chance(0.5), rng.chance(0.5));
            }
        }
        (0..60).for_each(|_| step_losing(&mut family.room, rng.chance(0.5), rng.chance(0.5)));
        family.room.settle();
        assert_eq!(family.ends(), family.all(), "seed {seed}");
    }
}

#[test]
fn a_family_that_fills_many_packets_ends_from_its_leaves() {
    for loses in [false, true] {
        let mut family = Family::new();
        let mut below = Vec::new();
        for number in 0..3_000 {
            let up = family.child;
            let node = family.room.server.object(up).spawn_subobject(Node { number, up });
            below.push(node.expect("the child exists").erase());
        }
        family.room.settle();
        family.ends();
        family.room.server.despawn(family.root);
        step_losing(&mut family.room, loses, false);
        family.room.settle();
        let ends = family.ends();
        assert_eq!(ends.len(), below.len() + 3);
        assert_eq!(ends[ends.len() - 2..], [family.child.erase(), family.root.erase()]);
    }
}

#[test]
fn owned_and_attached_objects_are_no_children() {
    let mut family = Family::new();
    let id = family.room.guests[0].id;
    let root = family.root;
    family.room.server.object(root).set_owner(Some(id));
    let owned = family.room.server.spawn(Node { number: 5, up: root });
    family.room.server.object(owned).set_owner_object(root);
    let attached = family.room.server.spawn(Node { number: 6, up: root });
    family.room.server.object(attached).set_relevancy(Relevancy::attached_to(root));
    family.room.settle();
    assert!(family.room.client().object_info(owned).is_owner());
    family.room.server.despawn(root);
    family.room.settle();
    assert!(family.room.client().contains(owned) && !family.room.client().object_info(owned).is_owner());
    assert!(!family.room.client().contains(attached), "what was attached is out of sight");
    let out_of_sight = UpdateKind::Despawned(CloseReason::Relevancy);
    assert!(family.room.polled(0).contains(&(attached.erase(), out_of_sight)));
}
