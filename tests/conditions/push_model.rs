//! Which values are compared: conditions (S39), marks, and comparisons that are skipped while no connection
//! needs them (S123 to S133, W17).
//!
//! *Invariant:* the values themselves count how often they are compared, so even a comparison without effect
//! is noticed.

use std::cell::Cell;
use std::time::Duration;

use crate::support::{Room, SIGN_OF_LIFE_BYTES, property, size};
use repl::prelude::*;
use repl::{BitReader, BitWriter, Condition, NotSent, PropertyIndex, ReadError, ReferenceMap, WriteError};

/// Defines a number that counts how often it is compared.
macro_rules! counted {
    ($name:ident, $compared:ident) => {
        thread_local!(static $compared: Cell<u32> = const { Cell::new(0) });

        #[derive(Clone, Debug, Default, PartialEq)]
        struct $name(u32);

        impl NetSerialize for $name {
            const WIRE_NAME: &'static str = stringify!($name);

            fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
                self.0.write(writer)
            }

            fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
                u32::read(reader, references).map(Self)
            }

            fn identical(&self, other: &Self) -> bool {
                $compared.set($compared.get() + 1);
                self == other
            }
        }
        repl::leaf!($name);
    };
}

counted!(Polled, POLLED);
counted!(Pushed, PUSHED);

counted!(ForOwner, FOR_OWNER);
counted!(AtOpen, AT_OPEN);
counted!(Switched, SWITCHED);
counted!(Chosen, CHOSEN);
counted!(Unsent, UNSENT);

/// One counted number for each condition that decides what is compared, and one for another condition.
#[derive(Replicated, Default)]
struct Gauge {
    #[replicated]
    plain: u8,
    #[replicated(condition = OwnerOnly)]
    for_owner: ForOwner,
    #[replicated(condition = InitialOnly)]
    at_open: AtOpen,
    #[replicated(condition = Custom)]
    switched: Switched,
    #[replicated(condition = Dynamic)]
    chosen: Chosen,
    #[replicated(condition = Never)]
    unsent: Unsent,
}

/// Writes to the gauge. Returns which properties are compared until the server sends nothing more.
fn compared_of(room: &mut Room, gauge: ObjectRef<Gauge>) -> Vec<&'static str> {
    let counts = || [FOR_OWNER.get(), AT_OPEN.get(), SWITCHED.get(), CHOSEN.get(), UNSENT.get()];
    let before = counts();
    room.server[gauge].plain += 1;
    room.settle();
    let names = ["for_owner", "at_open", "switched", "chosen", "unsent"];
    let grown = names.into_iter().zip(before.iter().zip(counts())).filter(|(_, (was, is))| *was < is);
    grown.map(|(name, _)| name).collect()
}

#[test]
fn s39_only_these_conditions_affect_comparisons() {
    let register = |client: &mut Client| {
        client.register::<Gauge>();
    };
    let (mut room, gauge) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(Gauge::default()));
    let (switched, chosen) = (property::<Gauge>("switched"), property::<Gauge>("chosen"));
    let first = room.guests[0].id;
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "switched", "chosen"], "without an owner, too");

    room.server.object(gauge).set_custom_active_for(first, switched, false);
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "switched", "chosen"], "off for one connection");
    room.server.object(gauge).set_custom_active(switched, false);
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "chosen"], "off for all");
    room.server.object(gauge).set_dynamic_condition(chosen, Condition::ReplayOnly);
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "chosen"], "for nobody who is here");
    room.server.object(gauge).set_dynamic_condition(chosen, Condition::Never);
    assert_eq!(compared_of(&mut room, gauge), ["for_owner"]);

    // An opening compares the properties that only openings contain. Properties that are switched off are not
    // compared.
    room.enter();
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "at_open"], "an opening");
    room.server.object(gauge).set_custom_active(switched, true);
    room.server.object(gauge).set_dynamic_condition(chosen, Condition::None);
    assert_eq!(compared_of(&mut room, gauge), ["for_owner", "switched", "chosen"], "on again");
}

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    count: u8,
}

#[derive(Replicated, Default)]
struct Meter {
    #[replicated]
    polled: Polled,
    #[replicated(push)]
    pushed: Pushed,
    #[replicated(push)]
    row: [u8; 3],
    #[replicated(push)]
    target: ObjectRef<Self>,
    #[replicated(push, condition = AutonomousOnly)]
    input: u8,
    #[replicated(push, condition = OwnerOnly)]
    orders: u8,
    #[replicated(condition = Custom)]
    extra: u8,
    #[replicated]
    items: FastArray<Item>,
    #[replicated]
    text: String,
}

fn room(guests: usize) -> (Room, ObjectRef<Meter>) {
    let register = |client: &mut Client| {
        client.register::<Meter>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| server.spawn(Meter::default()))
}

fn of(name: &str) -> PropertyIndex<Meter> {
    property::<Meter>(name)
}

/// Returns whether polled values and whether pushed values are compared while `run` runs.
fn compared(run: impl FnOnce()) -> (bool, bool) {
    let before = (POLLED.get(), PUSHED.get());
    run();
    (POLLED.get() > before.0, PUSHED.get() > before.1)
}

/// Returns what guest `guest` shows of an object.
fn shown(room: &Room, guest: usize, meter: ObjectRef<Meter>) -> &Meter {
    room.guests[guest].client.get(meter).expect("the client has it")
}

/// Asserts that for two seconds nothing is compared, and that only keep-alive packets are sent.
fn assert_skipped(room: &mut Room, why: &str) {
    let is_compared = compared(|| {
        for _ in 0..120 {
            room.acknowledge();
            for (guest, packets) in room.tick().into_iter().enumerate() {
                assert!(
                    packets.iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES),
                    "{why}: sent {} bytes",
                    size(&packets)
                );
                room.deliver(guest, &packets);
            }
        }
    });
    assert_eq!(is_compared, (false, false), "{why}: compared");
}

#[test]
fn s123_push_is_opted_in_to_and_all_else_counts_as_always_dirty() {
    let (mut room, meter) = room(1);
    room.server[meter].polled = Polled(1);
    room.server[meter].pushed = Pushed(1);
    let is_compared = compared(|| room.settle());
    assert_eq!(is_compared, (true, false));
    assert_eq!((shown(&room, 0, meter).polled.0, shown(&room, 0, meter).pushed.0), (1, 0));
}

#[test]
fn s124_a_mark_is_of_one_property_of_one_object_for_whoever_sees_it() {
    let (mut room, meter) = room(2);
    room.enter_replay();
    let other = room.server.spawn(Meter::default());
    room.settle();
    for object in [meter, other] {
        room.server[object].row = [1, 2, 3];
        room.server[object].pushed = Pushed(7);
    }
    // This marks all elements of a fixed array. Each element is one parent (one entry of the layout).
    room.server.object(meter).mark_dirty(of("row"));
    room.settle();
    for guest in 0..3 {
        let (marked, unmarked) = (shown(&room, guest, meter), shown(&room, guest, other));
        assert_eq!((marked.row, marked.pushed.0), ([1, 2, 3], 0), "guest {guest}");
        assert_eq!((unmarked.row, unmarked.pushed.0), ([0; 3], 0), "guest {guest}");
    }
}

#[test]
fn s125_a_mark_asks_for_one_comparison_and_sends_nothing_by_itself() {
    let (mut room, meter) = Room::measuring(|| room(1));
    let is_compared = compared(|| {
        room.server.object(meter).mark_dirty(of("pushed"));
        assert!(room.tick_one().iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    });
    assert!(is_compared.1);
    // The comparison has cleared the mark, so a later change needs another mark.
    room.server[meter].pushed = Pushed(5);
    let is_compared = compared(|| room.settle());
    assert_eq!((is_compared.1, shown(&room, 0, meter).pushed.0), (false, 0));
    room.server.object(meter).mark_dirty(of("pushed"));
    room.settle();
    assert_eq!((shown(&room, 0, meter).pushed.0, room.updates::<Meter>(0, "pushed")), (5, 1));
}

/// An object of numbers only. So the server knows how many bits it can take at most.
#[derive(Clone, Debug, PartialEq, Replicated, Default)]
struct Dial {
    #[replicated]
    always: u16,
    #[replicated(push)]
    first: u16,
    #[replicated(push)]
    second: u64,
}

#[test]
fn s124_s125_marks_of_objects_of_numbers_are_of_one_property_and_for_one_comparison() {
    let (mut room, dials) = Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Dial>(),
        1,
        |server| [(); 3].map(|()| server.spawn(Dial::default())),
    );
    room.settle();
    let of = property::<Dial>;
    let write = |room: &mut Room, value: u16| {
        for dial in &dials {
            if let Some(dial) = room.server.get_mut(*dial) {
                *dial = Dial { always: value, first: value, second: value.into() };
            }
        }
    };
    let shown = |room: &Room| dials.map(|dial| room.guests[0].client.get(dial).cloned());
    let dial = |always, first, second| Some(Dial { always, first, second });

    write(&mut room, 1);
    room.server.object(dials[0]).mark_dirty(of("first"));
    room.settle();
    assert_eq!(shown(&room), [dial(1, 1, 0), dial(1, 0, 0), dial(1, 0, 0)]);
    write(&mut room, 2);
    room.server.object(dials[1]).mark_dirty(of("second"));
    room.settle();
    assert_eq!(shown(&room), [dial(2, 1, 0), dial(2, 0, 2), dial(2, 0, 0)], "the first mark was compared");

    // The last object moves to the place of the removed one, and its mark moves with it.
    write(&mut room, 3);
    room.server.object(dials[0]).mark_dirty(of("second"));
    room.server.object(dials[2]).mark_dirty(of("first"));
    room.server.despawn(dials[0]);
    room.settle();
    assert_eq!(shown(&room), [None, dial(3, 0, 2), dial(3, 3, 0)]);
}

#[test]
fn s126_a_push_property_that_nobody_marked_waits_for_an_opening() {
    let (mut room, meter) = room(1);
    room.server[meter].pushed = Pushed(5);
    room.settle();
    room.server.objects_mut::<Meter>().for_each(|(_, meter)| meter.pushed = Pushed(6));
    room.settle();
    room.server.object(meter).mark_dirty(of("row"));
    room.server[meter].polled = Polled(1);
    room.settle();
    assert_eq!(shown(&room, 0, meter).pushed.0, 0);
    // The opening for one client compares the property. The difference is sent to all clients (S68).
    room.enter();
    room.settle();
    assert_eq!([0, 1].map(|guest| shown(&room, guest, meter).pushed.0), [6; 2]);
}

#[test]
fn s126_an_opening_that_was_sent_again_asks_for_no_later_comparison() {
    let (mut room, _) = room(1);
    let meter = room.server.spawn(Meter::default());
    room.tick_one();
    // The client has not acked the opening yet, so the change sends the opening again.
    room.server[meter].polled = Polled(1);
    room.tick_one();
    room.settle();
    room.server[meter].pushed = Pushed(5);
    room.server[meter].polled = Polled(2);
    let is_compared = compared(|| room.settle());
    assert_eq!(is_compared, (true, false));
    assert_eq!((shown(&room, 0, meter).polled.0, shown(&room, 0, meter).pushed.0), (2, 0));
}

#[test]
fn s127_no_kind_of_push_property_is_compared_unasked() {
    let (mut room, meter) = Room::measuring(|| room(1));
    let target = room.server.spawn(Meter::default());
    room.settle();
    room.server[meter].target = target;
    room.server[meter].pushed = Pushed(1);
    let is_compared = compared(|| {
        for round in 0..300 {
            // More ticks than the server waits before it frees unused memory. One object is removed
            // in the meantime.
            if round == 100 {
                room.server.despawn(target);
            }
            room.server[meter].polled = Polled(round);
            room.step();
        }
    });
    assert!(!is_compared.1);
    assert_eq!(room.updates::<Meter>(0, "target"), 0);
}

#[test]
fn s128_a_new_owner_gets_what_the_role_shows_him_without_a_mark() {
    let (mut room, meter) = room(2);
    room.server.object(meter).set_remote_role(Role::AutonomousProxy);
    (room.server[meter].input, room.server[meter].orders) = (3, 4);
    room.server.object(meter).mark_dirty(of("input"));
    room.server.object(meter).mark_dirty(of("orders"));
    room.settle();
    let of_guest = |room: &Room, guest| (shown(room, guest, meter).input, shown(room, guest, meter).orders);
    assert_eq!([0, 1].map(|guest| of_guest(&room, guest)), [(0, 0); 2]);
    room.server.object(meter).set_owner(Some(room.guests[1].id));
    room.settle();
    assert_eq!([0, 1].map(|guest| of_guest(&room, guest)), [(0, 0), (3, 4)]);
    room.server.object(meter).set_owner(None);
    room.server.object(meter).set_remote_role(Role::Authority);
    room.settle();
    assert_eq!([0, 1].map(|guest| of_guest(&room, guest)), [(3, 0), (3, 4)]);
}

#[test]
fn s130_an_object_is_skipped_until_something_asks_for_it() {
    let (mut room, meter) = Room::measuring(|| room(2));
    assert_skipped(&mut room, "all is acknowledged");

    room.enter();
    room.settle();
    assert_eq!(room.updates::<Meter>(2, "polled"), 0, "as its archetype");
    assert!(room.guests[2].client.contains(meter), "an opening");
    assert_skipped(&mut room, "opened");

    room.server[meter].orders = 1;
    room.server.object(meter).mark_dirty(of("orders"));
    room.settle();
    assert_skipped(&mut room, "changed for nobody");
    room.server.object(meter).set_owner(Some(room.guests[0].id));
    room.settle();
    assert_eq!(shown(&room, 0, meter).orders, 1, "a view that changed");
    assert_skipped(&mut room, "owned");

    room.server[meter].polled = Polled(5);
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| shown(&room, guest, meter).polled.0), [5; 3], "a loss");
    assert_skipped(&mut room, "made good");

    room.server[meter].pushed = Pushed(6);
    assert_skipped_but_for_the_write(&mut room);
    room.server.object(meter).mark_dirty(of("pushed"));
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| shown(&room, guest, meter).pushed.0), [6; 3], "a mark");
    assert_skipped(&mut room, "marked");
}

/// Asserts that a write through the guard makes the server compare the polled properties, and that no state
/// is sent.
fn assert_skipped_but_for_the_write(room: &mut Room) {
    let is_compared = compared(|| {
        assert!(room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    });
    assert_eq!(is_compared, (true, false));
    assert_skipped(room, "written to");
}

#[test]
fn s131_a_lost_change_of_a_fast_array_is_sent_again_though_nothing_changes_any_more() {
    let (mut room, meter) = room(2);
    room.server[meter].items.extend([Item { count: 1 }, Item { count: 2 }]);
    room.settle();
    room.server[meter].items[0].count = 9;
    room.server[meter].items.remove(1);
    let packets = room.tick();
    room.deliver(1, &packets[1]);
    let is_compared = compared(|| room.settle());
    assert_eq!(is_compared, (false, false), "from the shadow, without a comparison");
    for guest in 0..2 {
        let items: Vec<u8> = shown(&room, guest, meter).items.iter().map(|item| item.count).collect();
        assert_eq!(items, [9], "guest {guest}");
    }
}

/// An event that happens to a meter in a room of three clients.
type Happening = fn(&mut Room, ObjectRef<Meter>, [ConnectionId; 3]);

#[test]
fn s132_nothing_that_ever_happened_keeps_an_object_from_being_skipped() {
    let (mut room, meter) = room(3);
    let ids = [0, 1, 2].map(|guest| room.guests[guest].id);
    let happenings: [(&str, Happening); 8] = [
        ("a change", |room, meter, _| room.server[meter].polled.0 += 1),
        ("a mark", |room, meter, _| _ = room.server.object(meter).mark_dirty(of("pushed"))),
        ("an owner", |room, meter, ids| _ = room.server.object(meter).set_owner(Some(ids[0]))),
        ("a switch for all", |room, meter, _| {
            room.server.object(meter).set_custom_active(of("extra"), false);
        }),
        ("a switch for one", |room, meter, ids| {
            room.server.object(meter).set_custom_active_for(ids[1], of("extra"), false);
        }),
        ("fragments", |room, meter, _| room.server[meter].text = "long ".repeat(800)),
        ("hiding", |room, meter, ids| _ = room.server.object(meter).set_visible(ids[2], false)),
        ("showing", |room, meter, ids| _ = room.server.object(meter).set_visible(ids[2], true)),
    ];
    for (what, happen) in happenings {
        for is_lost in [false, true] {
            happen(&mut room, meter, ids);
            if is_lost {
                room.tick();
            }
            room.settle();
            assert_skipped(&mut room, what);
        }
    }
    room.enter();
    room.server.connection(ids[1]).disconnect();
    room.guests.remove(1);
    room.settle();
    assert_skipped(&mut room, "one came and one went");
}

#[test]
fn s133_each_connection_tracks_changes_separately() {
    let (mut room, meter) = Room::measuring(|| room(3));
    let other = room.server.spawn(Meter::default());
    room.settle();
    // Each client sees the objects in another way, so the clients share nothing.
    for guest in 0..3 {
        for object in [meter, other] {
            room.server.object(object).set_custom_active_for(room.guests[guest].id, of("extra"), false);
        }
    }
    room.settle();
    room.server[meter].polled = Polled(1);
    let first = room.tick();
    room.server[other].polled = Polled(2);
    let second = room.tick();
    // One client loses the change of the first object, another client loses the change of the second object,
    // and the third loses nothing. A fourth client joins, and one client becomes the owner.
    room.deliver(0, &second[0]);
    room.deliver(1, &first[1]);
    room.deliver(2, &[&first[2][..], &second[2]].concat());
    room.enter();
    room.server.object(other).set_owner(Some(room.guests[2].id));
    room.settle();
    for guest in 0..4 {
        let seen = [meter, other].map(|object| shown(&room, guest, object).polled.0);
        assert_eq!(seen, [1, 2], "guest {guest}");
    }
    // Only the lost changes were sent again.
    let updates = [0, 1, 2].map(|guest| room.updates::<Meter>(guest, "polled"));
    assert_eq!(updates, [2, 2, 2]);
    assert_eq!(
        [0, 1].map(|guest| room.server.connection_info(room.guests[guest].id).stats().unwrap().packets_lost),
        [1, 1]
    );
}

/// An object with a call.
#[derive(Replicated, Default)]
struct Bell {
    #[replicated]
    polled: Polled,
    #[replicated]
    text: String,
    rung: u32,
}

#[rpcs]
impl Bell {
    #[rpc(multicast, reliable)]
    fn ring(call: &mut MulticastCall<'_, Self>) {
        call.rung += 1;
    }
}

fn belfry() -> (Room, ObjectRef<Bell>) {
    let register = |client: &mut Client| _ = client.register::<Bell>().register_calls::<Bell>();
    Room::furnished(ServerConfig::default(), register, 2, |server| {
        server.register::<Bell>().register_calls::<Bell>();
        server.spawn(Bell::default())
    })
}

/// Runs some ticks, and returns whether anything is compared in them. If `is_lost`, all packets to the first
/// client are lost.
fn compared_in(room: &mut Room, ticks: usize, is_lost: bool) -> bool {
    let ticks = || {
        for _ in 0..ticks {
            room.acknowledge();
            let packets = room.tick();
            (usize::from(is_lost)..2).for_each(|guest| room.deliver(guest, &packets[guest]));
        }
    };
    compared(ticks).0
}

#[test]
fn w17_objects_of_which_something_waits_for_one_connection_are_compared_only_when_they_are_written_to() {
    for reason in [NotSent::Paused, NotSent::Budget, NotSent::Unacknowledged] {
        let (mut room, bell) = belfry();
        let (id, is_lost) = (room.guests[0].id, reason == NotSent::Unacknowledged);
        match reason {
            NotSent::Paused => _ = room.server.connection(id).pause(),
            NotSent::Budget => {
                room.server.connection(id).set_budget(1);
                // This opening is sent although it is larger than the budget. After that, the budget allows
                // nothing until enough time has passed.
                room.server.spawn(Bell { text: "t".repeat(500), ..Bell::default() });
                room.step();
            }
            _ => room.server[bell].text = "t".repeat(4_000),
        }
        // The opening of this object waits, and the call waits for the opening.
        let newborn = room.server.spawn(Bell::default());
        room.server.call(newborn).ring().expect("there is room");
        for value in 1..=3 {
            for bell in [bell, newborn] {
                room.server[bell].polled = Polled(value);
                assert!(compared_in(&mut room, 1, is_lost), "{reason:?}: it was written to");
                assert!(!compared_in(&mut room, 30, is_lost), "{reason:?}: only because something waits");
            }
            assert_eq!(room.server.object_info(bell).why_not_sent_to(id), Some(reason.clone()));
            let shown = [bell, newborn].map(|bell| room.guests[1].client[bell].polled.0);
            assert_eq!(shown, [value; 2], "{reason:?}: the other client has everything");
        }
        assert!(!room.guests[0].client.contains(newborn) && room.guests[0].client[bell].polled.0 == 0);
        room.server.connection(id).resume().set_budget(1 << 20);
        assert!(!compared(|| room.settle()).0, "{reason:?}: what has waited is sent");
        let client = &room.guests[0].client;
        let shown = [bell, newborn].map(|bell| (client[bell].polled.0, client[bell].rung));
        assert_eq!(shown, [(3, 0), (3, 1)], "{reason:?}");
    }
}

#[test]
fn s187_w17_a_change_that_waits_for_the_rate_of_its_object_is_compared_once_when_it_is_due() {
    let (mut room, bell) = belfry();
    room.server.object(bell).set_update_rate(Some(UpdateRate::every(Duration::from_secs(60))));
    room.server.call(bell).ring().expect("there is room");
    for value in 1..=3 {
        room.server[bell].polled = Polled(value);
        assert!(!compared_in(&mut room, 30, false), "it is not due");
        let id = room.guests[0].id;
        assert_eq!(room.server.object_info(bell).why_not_sent_to(id), Some(NotSent::Rate));
    }
    room.server.object(bell).force_update();
    assert!(compared_in(&mut room, 1, false) && !compared_in(&mut room, 30, false));
    assert_eq!((room.client()[bell].polled.0, room.client()[bell].rung), (3, 1));
}

#[test]
fn s133_what_two_paused_clients_lack_is_kept_until_both_have_it() {
    let (mut room, meter) = room(3);
    let ids = [0, 1].map(|guest| room.guests[guest].id);
    ids.iter().for_each(|id| _ = room.server.connection(*id).pause());
    for value in 1..=3 {
        room.server[meter].polled = Polled(value);
        room.step();
    }
    for (guest, id) in ids.into_iter().enumerate() {
        room.server.connection(id).resume();
        room.settle();
        assert_eq!(shown(&room, guest, meter).polled.0, 3, "guest {guest}");
    }
}

/// All of its properties are compared only when they are marked.
#[derive(Replicated, Default)]
struct Tally {
    #[replicated(push)]
    first: u32,
    #[replicated(push)]
    second: u64,
}

#[test]
fn s63_a_marked_value_that_went_there_and_back_is_not_sent() {
    let (mut room, tally) = Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Tally>();
        },
        1,
        |server| server.spawn(Tally { first: 1, second: 2 }),
    );
    for (first, second) in [(7, 8), (1, 2)] {
        room.server.edit(tally).first(first).second(second);
    }
    assert!(room.tick_one().iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.server.edit(tally).first(7);
    assert!(room.tick_one().iter().any(|packet| packet.len() > SIGN_OF_LIFE_BYTES));
}
