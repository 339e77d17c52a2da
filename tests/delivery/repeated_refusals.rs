//! How often the server reports a refused value.
//!
//! *Invariant:* a value is reported once, however often its object is compared, until the value is accepted
//! or refused for another reason.

use std::collections::{BTreeMap, HashSet};

use repl::WriteError;
use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Default)]
struct Sheet {
    #[replicated(range = 0..=9)]
    level: u8,
    #[replicated(range = 0..=9)]
    cells: [u8; 2],
    #[replicated(max_len = 2)]
    name: String,
    #[replicated(max_len = 2)]
    few: Vec<u8>,
    #[replicated(max_len = 2)]
    array: FastArray<u8>,
    #[replicated(max_len = 2)]
    row: OrderedFastArray<u8>,
    #[replicated(max_len = 2)]
    map: BTreeMap<u8, u8>,
    #[replicated(max_len = 2)]
    set: HashSet<u8>,
    #[replicated(max_len = 2)]
    recorded: ReplicatedMap<u8, u8>,
    #[replicated(condition = InitialOnly, range = 0..=9)]
    seed: u8,
    #[replicated]
    frame: u32,
}

/// The properties of a sheet that can exceed a limit, ascending by handle.
const ALL: [&str; 10] =
    ["level", "cells[1]", "name", "few", "array", "row", "map", "set", "recorded", "seed"];

impl Sheet {
    /// Puts `len` elements into each collection.
    fn fill(&mut self, len: u8) {
        self.name = "x".repeat(len.into());
        self.few = (0..len).collect();
        self.array = (0..len).collect();
        self.row = (0..len).collect();
        self.map = (0..len).map(|key| (key, 0)).collect();
        self.set = (0..len).collect();
        self.recorded = (0..len).map(|key| (key, 0)).collect();
    }

    fn break_all(&mut self) {
        self.fill(3);
        (self.level, self.cells[1], self.seed) = (10, 10, 10);
    }

    fn mend_all(&mut self) {
        self.fill(0);
        (self.level, self.cells[1], self.seed) = (0, 0, 0);
    }
}

/// The ways in which a test writes to the sheet.
#[derive(Clone, Copy, Debug)]
enum Writes {
    One,
    All,
}

const WRITES: [Writes; 2] = [Writes::One, Writes::All];

struct Sheets {
    room: Room,
    sheet: ObjectRef<Sheet>,
    writes: Writes,
}

impl Sheets {
    fn new(writes: Writes) -> Self {
        let register = |client: &mut Client| _ = client.register::<Sheet>();
        let (mut room, sheet) =
            Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Sheet::default()));
        room.refused();
        Self { room, sheet, writes }
    }

    /// Changes the sheet, and returns the paths and reasons that the next tick reports.
    fn reported(&mut self, write: impl FnOnce(&mut Sheet)) -> Vec<(String, WriteError)> {
        let server = &mut self.room.server;
        match self.writes {
            Writes::One => write(&mut server[self.sheet]),
            Writes::All => write(server.objects_mut().next().expect("there is a sheet").1),
        }
        self.room.step();
        refusals(&mut self.room.server)
    }
}

fn refusals(server: &mut Server) -> Vec<(String, WriteError)> {
    let events = std::iter::from_fn(|| server.poll_event());
    let refused = events.filter_map(|event| match event {
        ServerEvent::ValueRefused { path, error, .. } => Some((path, error)),
        _ => None,
    });
    refused.collect()
}

fn paths(reported: &[(String, WriteError)]) -> Vec<&str> {
    reported.iter().map(|(path, _)| path.as_str()).collect()
}

/// Returns the paths that are compared in every tick. `seed` is compared only before openings.
fn each_tick() -> Vec<&'static str> {
    ALL.into_iter().filter(|path| *path != "seed").collect()
}

#[test]
fn a_refused_value_is_reported_once_however_often_its_object_is_compared() {
    for writes in WRITES {
        let mut sheets = Sheets::new(writes);
        assert_eq!(paths(&sheets.reported(Sheet::break_all)), each_tick(), "{writes:?}");
        for frame in 1..10 {
            assert_eq!(sheets.reported(|sheet| sheet.frame = frame), [], "{writes:?}, frame {frame}");
        }
        assert_eq!(sheets.room.client()[sheets.sheet].frame, 9, "the object was compared");
    }
}

#[test]
fn a_collection_over_its_limit_is_reported_again_when_its_length_changes() {
    let too_long = |len| WriteError::TooLong { len, max: 2 };
    for writes in WRITES {
        let mut sheets = Sheets::new(writes);
        sheets.reported(Sheet::break_all);
        let reported = sheets.reported(|sheet| sheet.fill(4));
        let expected: Vec<_> = ALL[2..9].iter().map(|path| ((*path).to_owned(), too_long(4))).collect();
        assert_eq!(reported, expected, "{writes:?}");
    }
}

#[test]
fn a_value_that_was_accepted_in_between_is_reported_again() {
    for writes in WRITES {
        let mut sheets = Sheets::new(writes);
        sheets.reported(Sheet::break_all);
        // The values equal those of the shadow (the values that clients have) again, so no difference is
        // found.
        assert_eq!(sheets.reported(Sheet::mend_all), [], "{writes:?}");
        assert_eq!(paths(&sheets.reported(Sheet::break_all)), each_tick(), "{writes:?}");
        // Here the accepted values differ from the shadow, so they are sent.
        assert_eq!(sheets.reported(|sheet| sheet.fill(1)), [], "{writes:?}");
        assert_eq!(paths(&sheets.reported(Sheet::break_all)), each_tick()[2..], "{writes:?}");
    }
}

#[test]
fn a_number_that_equals_its_shadow_again_is_accepted() {
    // Only the number is written to, so nothing else makes the server compare the object.
    for writes in WRITES {
        let mut sheets = Sheets::new(writes);
        assert_eq!(paths(&sheets.reported(|sheet| sheet.level = 10)), ["level"], "{writes:?}");
        assert_eq!(sheets.reported(|sheet| sheet.level = 0), [], "{writes:?}");
        assert_eq!(paths(&sheets.reported(|sheet| sheet.level = 10)), ["level"], "{writes:?}");
    }
}

#[test]
fn clients_that_join_cause_no_second_report() {
    let mut sheets = Sheets::new(Writes::One);
    sheets.reported(Sheet::break_all);
    sheets.room.enter();
    sheets.room.settle();
    assert_eq!(paths(&refusals(&mut sheets.room.server)), ["seed"], "it is compared before an opening");
    for frame in 0..3 {
        assert_eq!(sheets.reported(|sheet| sheet.frame = frame), []);
        sheets.room.enter();
        sheets.room.settle();
        assert_eq!(refusals(&mut sheets.room.server), []);
    }
}

#[test]
fn an_object_in_the_slot_of_another_is_reported_by_itself() {
    let mut sheets = Sheets::new(Writes::One);
    sheets.reported(Sheet::break_all);
    sheets.room.server.despawn(sheets.sheet);
    sheets.room.settle();
    let slot = sheets.sheet.guid().expect("it is not null").slot();
    sheets.sheet = sheets.room.server.spawn(Sheet::default());
    assert_eq!(sheets.sheet.guid().expect("it is not null").slot(), slot, "the slot is used again");
    sheets.room.settle();
    assert_eq!(paths(&sheets.reported(Sheet::break_all)), each_tick());
}

#[test]
fn a_refused_value_of_an_external_object_is_reported_once_too() {
    let register = |client: &mut Client| _ = client.register::<Sheet>();
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register_external::<Sheet>();
    let mut live = Sheet::default();
    let sheet = room.server.external().spawn(&live);
    room.enter();
    room.settle();
    room.refused();
    let compare = |room: &mut Room, live: &mut Sheet| {
        room.server.external().compare_mut(sheet, live).expect("it exists");
        room.step();
        refusals(&mut room.server)
    };
    live.break_all();
    assert_eq!(paths(&compare(&mut room, &mut live)), ALL);
    for frame in 0..3 {
        live.frame = frame;
        assert_eq!(compare(&mut room, &mut live), []);
        assert_eq!(compare(&mut room, &mut live), [], "compared without a change");
        room.enter();
        room.settle();
        assert_eq!(refusals(&mut room.server), [], "compared by nobody");
    }
    live.mend_all();
    assert_eq!(compare(&mut room, &mut live), []);
    live.break_all();
    assert_eq!(paths(&compare(&mut room, &mut live)), ALL);
}
