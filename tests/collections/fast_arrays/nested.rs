//! Callbacks of an item that contains arrays: the item is reported as changed if an update changes an inner
//! array, but not if the same update has arrived before (S178).
//!
//! *Invariant:* each item counts its own calls, in fields that are not replicated.

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    stacks: FastArray<Stack>,
}

#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Stack {
    /// Items without callbacks.
    numbers: FastArray<u16>,
    gems: FastArray<Gem>,
    #[replicated(skip)]
    calls: u32,
}

impl ItemCallbacks for Stack {
    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        assert!(changed.iter().next().is_some());
        self.calls += 1;
    }
}

#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Gem {
    charge: u8,
}

impl ItemCallbacks for Gem {}

/// Makes a change that arrives twice, because the ack of the first packet is lost. Returns how often the
/// stack's callback ran.
fn calls_after(change: fn(&mut Stack)) -> u32 {
    let mut room = Room::measuring(|| {
        Room::new(ServerConfig::default(), |client| {
            client.register::<Bag>();
        })
    });
    let stack = Stack { numbers: [1, 2].into(), gems: [Gem::default()].into(), ..Stack::default() };
    let bag = room.server.spawn(Bag { stacks: [stack].into() });
    room.enter();
    room.settle();
    let before = room.updates::<Bag>(0, "stacks");
    change(&mut room.server[bag].stacks[0]);
    for _ in 0..60 {
        let packets = room.tick_one();
        room.deliver(0, &packets);
        room.replies(0);
    }
    room.settle();
    assert!(room.updates::<Bag>(0, "stacks") > before + 1, "the change was sent anew");
    room.client().get(bag).expect("the client has it").stacks[0].calls
}

#[test]
fn s178_an_item_reports_a_change_of_an_inner_array_once() {
    type Change = fn(&mut Stack);
    let changes: [(&str, Change); 5] = [
        ("a gem came", |stack| {
            stack.gems.push(Gem { charge: 5 });
        }),
        ("a gem changed", |stack| stack.gems[0].charge = 9),
        ("a gem went", |stack| stack.gems.clear()),
        ("a number changed", |stack| stack.numbers[1] = 7),
        ("a number went", |stack| {
            stack.numbers.remove(0);
        }),
    ];
    for (name, change) in changes {
        assert_eq!(calls_after(change), 1, "{name}");
    }
}
