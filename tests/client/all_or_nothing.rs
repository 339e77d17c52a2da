//! A client applies a packet completely or not at all, even if a reader that the user wrote refuses a value
//! (R20).
//!
//! *Invariant:* after a refused packet a client shows the same objects and values as before it.

use std::cell::Cell;
use std::time::Duration;

use crate::support::Room;
use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReceiveError, ReferenceMap, WriteError};

/// A reference that is never null when it is written. Its reader refuses null.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bond(Option<ObjectRef<Knight>>);

impl NetSerialize for Bond {
    const WIRE_NAME: &'static str = "Bond";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.0.is_some().write(writer)?;
        self.0.map_or(Ok(()), |bond| bond.write(writer))
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        if !bool::read(reader, references)? {
            return Ok(Self(None));
        }
        let bond = ObjectRef::read(reader, references)?;
        if bond.is_null() {
            return Err(ReadError::Other("a bond with nobody"));
        }
        Ok(Self(Some(bond)))
    }
}
repl::leaf!(Bond);

#[derive(Replicated, Default)]
#[replicated(all)]
struct Knight {
    number: u32,
    bond: Bond,
    mood: Mood,
    last: u32,
}

thread_local! {
    /// How many more moods the reader accepts before it refuses one.
    static PATIENCE: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// A value whose reader returns an error after [`PATIENCE`] reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mood(u8);

impl NetSerialize for Mood {
    const WIRE_NAME: &'static str = "Mood";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let left = PATIENCE.get().checked_sub(1).ok_or(ReadError::Other("out of patience"))?;
        PATIENCE.set(left);
        Ok(Self(u8::read(reader, references)?))
    }
}
repl::leaf!(Mood);

fn room(knights: u32) -> (Room, Vec<ObjectRef<Knight>>) {
    let register = |client: &mut Client| {
        client.register::<Knight>();
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        (0..knights).map(|number| server.spawn(Knight { number, ..Knight::default() })).collect()
    })
}

/// Returns the first and the last property of each knight on the client, or `None` if the client does not
/// have the knight.
fn shown(room: &Room, knights: &[ObjectRef<Knight>]) -> Vec<Option<(u32, u32)>> {
    knights
        .iter()
        .map(|&knight| room.client().get(knight).map(|knight| (knight.number, knight.last)))
        .collect()
}

#[test]
fn r20_a_reader_that_refuses_null_refuses_the_packet_in_which_its_object_goes() {
    // The despawned object comes after, between or before the changed objects in the packet.
    for going in 0..3 {
        let (mut room, knights) = room(3);
        for knight in (0..3).filter(|&knight| knight != going) {
            room.server[knights[knight]].number = 70;
            room.server[knights[knight]].bond = Bond(Some(knights[going]));
            room.server[knights[knight]].last = 70;
        }
        room.server.despawn(knights[going]);
        let before = shown(&room, &knights);
        let packets = room.tick_one();
        assert_eq!(packets.len(), 1, "all in one packet");
        let result = room.guests[0].client.receive(Duration::ZERO, &packets[0]);
        match result {
            Err(ReceiveError::Malformed(why)) => {
                assert!(why.contains("Knight.bond: a bond with nobody"), "{why}")
            }
            other => panic!("{other:?} for a bond with one who goes"),
        }
        assert_eq!(shown(&room, &knights), before, "going: {going}");
        let Some(ClientEvent::Disconnected(_)) =
            std::iter::from_fn(|| room.guests[0].client.poll_event()).last()
        else {
            panic!("the connection ends");
        };
    }
}

#[test]
fn r20_a_reader_that_refuses_null_takes_a_reference_to_what_comes_in_the_same_packet() {
    let (mut room, knights) = room(1);
    let squire = room.server.spawn(Knight { number: 8, ..Knight::default() });
    room.server[knights[0]].bond = Bond(Some(squire));
    let lady = room.server.spawn(Knight { bond: Bond(Some(squire)), ..Knight::default() });
    let packets = room.tick_one();
    assert_eq!(packets.len(), 1, "all in one packet");
    room.deliver(0, &packets);
    for knight in [knights[0], lady] {
        assert_eq!(room.client().get(knight).map(|knight| knight.bond), Some(Bond(Some(squire))));
    }
}

#[test]
fn r20_a_reader_that_changes_its_mind_leaves_its_own_value_and_no_other() {
    let (mut room, knights) = room(3);
    for &knight in &knights {
        room.server[knight].number = 70;
        room.server[knight].mood = Mood(5);
        room.server[knight].last = 70;
    }
    let packets = room.tick_one();
    assert_eq!(packets.len(), 1, "all in one packet");
    // The reader accepts four reads: three to validate all three moods, and one to apply the first mood.
    PATIENCE.set(4);
    let result = room.guests[0].client.receive(Duration::ZERO, &packets[0]);
    PATIENCE.set(u32::MAX);
    assert_eq!(result, Ok(()));
    assert_eq!(shown(&room, &knights), [Some((70, 70)); 3]);
    let moods: Vec<_> = knights.iter().map(|&knight| room.client()[knight].mood).collect();
    assert_eq!(moods, [Mood(5), Mood(0), Mood(0)]);
}

/// A message that is larger than a packet, and whose reader may refuse it.
#[derive(NetSerialize, Clone)]
struct Letter(String, Mood);

#[test]
fn r20_a_packet_that_completes_a_message_that_its_reader_refuses_changes_no_object() {
    let register = |client: &mut Client| {
        client.register::<Knight>().register_message::<Letter>(Channel::Ordered);
    };
    let (mut room, knight) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register_message::<Letter>(Channel::Ordered);
        server.spawn(Knight::default())
    });
    let id = room.guests[0].id;
    room.server.connection(id).send(&Letter("repl ".repeat(300), Mood(1))).expect("there is room");
    room.server[knight].last = 70;
    let packets = room.tick_one();
    assert_eq!(packets.len(), 2, "the letter has a part in each packet, and the second also has the change");
    let client = &mut room.guests[0].client;
    assert_eq!(client.receive(Duration::ZERO, &packets[0]), Ok(()));
    assert_eq!(client[knight].last, 0);
    PATIENCE.set(0);
    let result = client.receive(Duration::ZERO, &packets[1]);
    PATIENCE.set(u32::MAX);
    assert_eq!(result, Err(ReceiveError::Malformed("out of patience".to_owned())));
    assert_eq!(client[knight].last, 0);
    assert!(client.poll_message::<Letter>().is_none());
}
