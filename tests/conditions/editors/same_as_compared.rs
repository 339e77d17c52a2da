//! Objects that are edited by setters reach clients with the same values as objects that are compared,
//! whatever events happen.
//!
//! *Invariant:* in each tick the same values are written to the objects of both classes: to one class by
//! setters, to the other by a reference. So their copies on clients are equal whenever packets have arrived.

use proptest::prelude::*;
use repl::prelude::*;

use crate::support::Room;

macro_rules! body {
    ($name:ident $(, $option:ident)?) => {
        #[derive(Replicated, Clone, Debug, Default, PartialEq)]
        struct $name {
            #[replicated $(($option))?]
            first: u8,
            #[replicated $(($option))?]
            flag: bool,
            #[replicated $(($option))?]
            slots: [u16; 3],
            #[replicated(quantize(step = 0.5, range = -50.0..=50.0) $(, $option)?)]
            heat: f32,
            #[replicated(range = 0..=9 $(, $option)?)]
            narrow: u32,
            #[replicated(max_len = 8 $(, $option)?)]
            name: String,
            #[replicated(condition = OwnerOnly $(, $option)?)]
            secret: u64,
        }

        impl $name {
            fn values(&self) -> (u8, bool, [u16; 3], u32, u32, &str, u64) {
                (self.first, self.flag, self.slots, self.heat.to_bits(), self.narrow, &self.name, self.secret)
            }
        }
    };
}

body!(Compared);
body!(Edited, push);

/// An event that happens to both objects with the same number.
#[derive(Clone, Debug)]
enum Event {
    Write(usize, u8, u16),
    Replace(usize),
    Own(usize, bool),
    Tick,
    Lose,
    Join,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0..6_usize, 0..7_u8, any::<u16>()).prop_map(|(at, field, value)| Event::Write(at, field, value)),
        1 => (0..6_usize).prop_map(Event::Replace),
        1 => (0..6_usize, any::<bool>()).prop_map(|(at, owns)| Event::Own(at, owns)),
        4 => Just(Event::Tick),
        1 => Just(Event::Lose),
        1 => Just(Event::Join),
    ]
}

type Pair = (ObjectRef<Compared>, ObjectRef<Edited>);

fn spawn(server: &mut Server) -> Pair {
    (server.spawn(Compared::default()), server.spawn(Edited::default()))
}

fn write(server: &mut Server, (compared, edited): Pair, field: u8, value: u16) {
    let at = usize::from(value % 3);
    // Most values are new. Some are equal to the value before, and some are refused.
    let live = &mut server[compared];
    match field {
        0 => live.first = value as u8 % 4,
        1 => live.flag = value.is_multiple_of(2),
        2 => live.slots[at] = value % 5,
        3 => live.heat = f32::from(value % 400) * 0.1,
        4 => live.narrow = u32::from(value % 12),
        5 => live.name = "x".repeat(usize::from(value % 10)),
        _ => live.secret = u64::from(value % 3),
    }
    let live = live.clone();
    let mut edit = server.edit(edited);
    match field {
        0 => edit.first(live.first),
        1 => edit.flag(live.flag),
        2 => edit.slots_at(at, live.slots[at]),
        3 => edit.heat(live.heat),
        4 => edit.narrow(live.narrow),
        5 => edit.name(live.name),
        _ => edit.secret(live.secret),
    };
}

fn assert_same(room: &Room, pairs: &[Pair]) {
    for (guest, (compared, edited)) in
        room.guests.iter().flat_map(|guest| pairs.iter().map(move |pair| (guest, *pair)))
    {
        let one = guest.client.get(compared).map(Compared::values);
        let other = guest.client.get(edited).map(Edited::values);
        assert_eq!(one, other);
    }
}

fn run(events: Vec<Event>) {
    let register = |client: &mut Client| {
        client.register::<Compared>().register::<Edited>();
    };
    let (mut room, mut pairs) =
        Room::furnished(ServerConfig::default(), register, 1, |server| [(); 6].map(|()| spawn(server)));
    let first = room.guests[0].id;
    for event in events {
        match event {
            Event::Write(at, field, value) => write(&mut room.server, pairs[at], field, value),
            Event::Replace(at) => {
                let (compared, edited) = std::mem::replace(&mut pairs[at], spawn(&mut room.server));
                room.server.despawn(compared);
                room.server.despawn(edited);
            }
            Event::Own(at, owns) => {
                room.server.object(pairs[at].0).set_owner(owns.then_some(first));
                room.server.object(pairs[at].1).set_owner(owns.then_some(first));
            }
            Event::Tick => _ = room.step(),
            Event::Lose => _ = room.tick(),
            Event::Join if room.guests.len() < 3 => _ = room.enter(),
            Event::Join => {}
        }
    }
    room.settle();
    assert_same(&room, &pairs);
    assert!(room.guests[0].client.get(pairs[0].0).is_some(), "there is something to compare");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edited_objects_arrive_like_compared_ones(events in prop::collection::vec(event(), 0..120)) {
        run(events);
    }
}
