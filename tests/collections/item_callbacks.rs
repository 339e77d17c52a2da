//! Which callbacks of items run if their array remains, if it is removed, and if another array replaces it.
//!
//! *Invariant:* each test runs on its own thread, so each has its own record of callbacks.

use std::cell::RefCell;
use std::collections::BTreeMap;

use repl::prelude::*;

use crate::support::Room;

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn tell(text: String) {
    TOLD.with_borrow_mut(|told| told.push(text));
}

fn told() -> Vec<String> {
    TOLD.take()
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Stack {
    kind: u16,
    gem: Gem,
    gems: FastArray<Gem>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Gem {
    colour: u8,
    facets: [u8; 3],
    cut: (bool, u8),
}

impl ItemCallbacks for Stack {
    fn pre_replicated_remove(&mut self) {
        tell(format!("- stack {}", self.kind));
    }

    fn post_replicated_add(&mut self) {
        tell(format!("+ stack {}", self.kind));
    }

    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        let paths = [
            "kind",
            "gem",
            "gem.colour",
            "gem.facets",
            "gem.facets[1]",
            "gem.facets[2]",
            "gem.cut.1",
            "gems",
        ];
        let paths = paths.into_iter().filter(|path| changed.contains(path)).collect::<Vec<_>>();
        assert_eq!(
            changed.contains("gem"),
            changed.contains_property(const { Self::LAYOUT.property("gem") })
        );
        tell(format!("= stack {}: {}", self.kind, paths.join(" ")));
    }

    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        for &at in update.indices() {
            update[at].gem.colour = 77;
        }
        let kinds: Vec<_> =
            update.ids().zip(update.items()).map(|(id, item)| format!("{id}:{}", item.kind)).collect();
        if !kinds.is_empty() {
            tell(format!("+ {}", kinds.join(" ")));
        }
    }
}

impl ItemCallbacks for Gem {
    fn pre_replicated_remove(&mut self) {
        tell(format!("- gem {}", self.colour));
    }

    fn post_replicated_add(&mut self) {
        tell(format!("+ gem {}", self.colour));
    }
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Drawer {
    #[default]
    Locked,
    Open(FastArray<Gem>),
}

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    stacks: FastArray<Stack>,
    #[replicated]
    pouch: Option<FastArray<Gem>>,
    #[replicated]
    shelves: BTreeMap<u8, FastArray<Gem>>,
    #[replicated]
    rows: Vec<FastArray<Gem>>,
    #[replicated]
    drawer: Drawer,
    #[replicated]
    held: Gem,
    #[replicated(condition = OwnerOnly)]
    gold: u32,
}

fn gem(colour: u8) -> Gem {
    Gem { colour, ..Gem::default() }
}

fn stack(kind: u16) -> Stack {
    Stack { kind, ..Stack::default() }
}

/// Returns a room with one client that has a bag. No callback is recorded yet.
fn room_with(bag: Bag) -> (Room, ObjectRef<Bag>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Bag>();
    });
    let bag = room.server.spawn(bag);
    room.enter();
    room.settle();
    told();
    (room, bag)
}

fn change(room: &mut Room, bag: ObjectRef<Bag>, change: impl FnOnce(&mut Bag)) -> Vec<String> {
    change(&mut room.server[bag]);
    room.settle();
    told()
}

#[test]
fn s178_items_added_to_or_removed_from_a_remaining_array_have_callbacks() {
    let pouch = Some([gem(1)].into());
    let (mut room, bag) = room_with(Bag { stacks: [stack(1), stack(2)].into(), pouch, ..Bag::default() });
    let told = change(&mut room, bag, |bag| {
        bag.stacks[0].gems.push(gem(7));
        bag.pouch.as_mut().expect("it is there").clear();
        bag.stacks.push(stack(3));
    });
    assert!(told.contains(&"+ gem 7".to_owned()), "{told:?}");
    assert!(told.contains(&"- gem 1".to_owned()), "{told:?}");
    assert!(told.contains(&"+ 3:3".to_owned()), "{told:?}");
    let stacks = &room.client().get(bag).unwrap().stacks;
    assert!(stacks.iter().all(|stack| stack.gem.colour == 77), "the callback wrote to each");
}

#[test]
fn s178_items_removed_with_their_array_have_no_callbacks() {
    let gems = || FastArray::from([gem(1), gem(2)]);
    let stacks = [Stack { gems: gems(), ..stack(1) }, stack(2)].into();
    let (mut room, bag) = room_with(Bag {
        stacks,
        pouch: Some(gems()),
        shelves: [(1, gems()), (2, gems())].into(),
        rows: vec![gems(), gems()],
        ..Bag::default()
    });
    assert_eq!(change(&mut room, bag, |bag| bag.pouch = None), [""; 0]);
    assert_eq!(change(&mut room, bag, |bag| _ = bag.shelves.remove(&1)), [""; 0]);
    assert_eq!(change(&mut room, bag, |bag| bag.rows.truncate(1)), [""; 0]);
    assert_eq!(change(&mut room, bag, |bag| _ = bag.stacks.remove(0)), ["- stack 1"]);
    room.server.despawn(bag);
    room.settle();
    assert_eq!(told(), [""; 0]);
}

#[test]
fn s178_an_array_in_a_unit_has_no_callbacks() {
    let (mut room, bag) = room_with(Bag::default());
    assert_eq!(change(&mut room, bag, |bag| bag.drawer = Drawer::Open([gem(1)].into())), [""; 0]);
    assert_eq!(change(&mut room, bag, |bag| bag.drawer = Drawer::Open([gem(1), gem(2)].into())), [""; 0]);
    assert_eq!(room.client().get(bag).unwrap().drawer, Drawer::Open([gem(1), gem(2)].into()));
    assert_eq!(change(&mut room, bag, |bag| bag.drawer = Drawer::Locked), [""; 0]);
}

#[test]
fn s137_an_array_assigned_over_another_has_new_items() {
    let (mut room, bag) = room_with(Bag { stacks: (1..=3).map(stack).collect(), ..Bag::default() });
    let kept = change(&mut room, bag, |bag| {
        bag.stacks = bag.stacks.iter().filter(|stack| stack.kind != 1).cloned().collect();
    });
    assert_eq!(kept, ["- stack 1", "- stack 2", "- stack 3", "+ stack 2", "+ stack 3", "+ 4:2 5:3"]);
    assert_eq!(change(&mut room, bag, |bag| bag.stacks.retain(|stack| stack.kind != 2)), ["- stack 2"]);
    let replaced = change(&mut room, bag, |bag| {
        bag.stacks.clear();
        bag.stacks.extend([stack(3)]);
    });
    assert_eq!(replaced, ["- stack 3", "+ stack 3", "+ 6:3"]);
}

#[test]
fn changes_in_nested_fields_are_queried_by_path() {
    let (mut room, bag) = room_with(Bag { stacks: [stack(1)].into(), ..Bag::default() });
    let told = change(&mut room, bag, |bag| bag.stacks[0].gem.facets[1] = 9);
    assert_eq!(told, ["= stack 1: gem gem.facets gem.facets[1]"]);
    let told = change(&mut room, bag, |bag| (bag.stacks[0].gem.cut.1, bag.stacks[0].gem.colour) = (1, 2));
    assert_eq!(told, ["= stack 1: gem gem.colour gem.cut.1"]);
    let table = Stack::LAYOUT.to_string();
    assert!(["gem.colour", "gem.facets[2]", "gem.cut.1"].iter().all(|path| table.contains(path)), "{table}");
}

#[test]
fn items_stand_in_fields_of_objects_too() {
    let (mut room, bag) = room_with(Bag::default());
    let told = change(&mut room, bag, |bag| bag.held = gem(5));
    assert_eq!((told, room.client().get(bag).unwrap().held.colour), (vec![], 5));
}

#[test]
fn s204_an_old_owner_keeps_what_it_saw_last() {
    let (mut room, bag) = room_with(Bag { gold: 1, ..Bag::default() });
    let owner = room.guests[0].id;
    room.server.object(bag).set_owner(Some(owner));
    change(&mut room, bag, |bag| bag.gold = 2);
    room.server.object(bag).set_owner(None);
    change(&mut room, bag, |bag| bag.gold = 3);
    assert_eq!(room.client().get(bag).unwrap().gold, 2);
}
