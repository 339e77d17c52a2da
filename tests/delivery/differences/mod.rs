//! Properties that are sent as differences (R23).

mod bases;
mod references;
mod round_trips;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

use crate::support::{Room, size};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Page {
    number: u32,
    #[replicated(delta)]
    text: String,
    #[replicated(delta)]
    list: Vec<u32>,
    #[replicated(delta = fog)]
    seen: Vec<u64>,
}

/// Bits that are set one after the other: a difference says which.
mod fog {
    use super::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) const NAME: &str = "fog";
    pub(super) type State = Vec<u64>;

    pub(super) fn write(base: &[u64], value: &[u64], writer: &mut BitWriter) -> Result<(), WriteError> {
        if base.len() != value.len() {
            return Err(WriteError::Other("another map"));
        }
        let changed = base.iter().zip(value).enumerate().filter(|(_, (one, other))| one != other);
        for (at, (_, word)) in changed {
            writer.write_flag(true);
            writer.write_bits(at as u64, 16);
            writer.write_bits(*word, 64);
        }
        writer.write_flag(false);
        Ok(())
    }

    pub(super) fn read(
        base: &[u64],
        reader: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<Vec<u64>, ReadError> {
        let mut words = base.to_vec();
        while reader.read_flag()? {
            let at = reader.read_bits(16)? as usize;
            *words.get_mut(at).ok_or(ReadError::OutOfRange)? = reader.read_bits(64)?;
        }
        Ok(words)
    }
}

fn pages(client: &mut Client) {
    client.register::<Page>();
}

fn text(bytes: usize) -> String {
    (0..bytes).map(|at| char::from(b'a' + (at * 7 % 26) as u8)).collect()
}

fn page(guests: usize) -> (Room, ObjectRef<Page>) {
    Room::furnished(ServerConfig::default(), pages, guests, |server| {
        server.spawn(Page {
            number: 1,
            text: text(3_600),
            list: (0..1_000).map(|at| at * 1_000_003).collect(),
            seen: vec![0; 500],
        })
    })
}

/// Changes a page, and returns the size of the packets of the next tick with the change, which arrive.
fn bytes_of(room: &mut Room, page: ObjectRef<Page>, change: impl FnOnce(&mut Page)) -> usize {
    room.settle();
    change(&mut room.server[page]);
    let packets = room.tick_one();
    room.deliver(0, &packets);
    room.acknowledge();
    room.settle();
    let (here, there) = (&room.server[page], room.client().get(page).expect("the client has it"));
    assert!(here.text == there.text && here.list == there.list && here.seen == there.seen);
    size(&packets)
}

#[test]
fn r23_a_small_change_of_a_large_value_takes_few_bytes() {
    let (mut room, page) = page(1);
    for at in [1_800, 0, 3_601, 2_000] {
        let typed = bytes_of(&mut room, page, |page| page.text.insert(at, '!'));
        assert!(typed <= 24, "{typed} bytes for a letter at {at}");
    }
    let inserted = bytes_of(&mut room, page, |page| page.list.insert(500, 7));
    assert!(inserted <= 24, "{inserted} bytes for an element");
    let seen = bytes_of(&mut room, page, |page| page.seen[77] |= 1 << 5);
    assert!(seen <= 28, "{seen} bytes for a bit of the fog");
    let number = bytes_of(&mut room, page, |page| page.number = 2);
    assert!(number <= 20, "{number} bytes for a number");
}
