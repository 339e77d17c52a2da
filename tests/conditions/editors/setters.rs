//! What the setters of objects of a server write, mark and send.
//!
//! *Invariant:* a test that says that nothing is compared counts the comparisons of values.

use std::cell::Cell;
use std::collections::HashMap;

use repl::prelude::*;
use repl::{BitReader, BitWriter, Edit, ReadError, ReferenceMap, WriteError};

use crate::support::{Room, SIGN_OF_LIFE_BYTES};

thread_local!(static COMPARED: Cell<u32> = const { Cell::new(0) });

/// A number that counts how often it is compared.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counted(u32);

impl NetSerialize for Counted {
    const WIRE_NAME: &'static str = "Counted";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u32::read(reader, references).map(Self)
    }

    fn identical(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        self == other
    }
}
repl::leaf!(Counted);

mod doubled {
    use repl::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

    pub(crate) const NAME: &str = "doubled";

    pub(crate) fn write(value: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
        (u32::from(*value) * 2).write(writer)
    }

    pub(crate) fn read(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<u16, ReadError> {
        u32::read(reader, references).map(|value| (value / 2) as u16)
    }
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Note {
    text: String,
    /// A field that is not replicated, but that a setter writes.
    #[replicated(skip)]
    draft: u8,
}

#[derive(Replicated, Default)]
struct Stats {
    #[replicated]
    strength: u8,
    #[replicated]
    speed: u8,
}

#[derive(FastArrayItem, Clone, Default)]
struct Coin {
    worth: u16,
}

/// An object whose ordinary updates compare only marked properties.
#[derive(Replicated, Default)]
struct Hero {
    #[replicated(push)]
    health: u16,
    #[replicated(push)]
    ammo: u16,
    #[replicated(push)]
    counted: Counted,
    #[replicated(push)]
    slots: [u32; 4],
    #[replicated(push)]
    name: String,
    #[replicated(push, with = doubled)]
    doubled: u16,
    #[replicated(push, quantize(step = 1.0, range = -100.0..=100.0))]
    heat: f32,
    #[replicated(push)]
    note: Note,
    #[replicated(push)]
    stats: Stats,
    #[replicated(push)]
    words: Vec<String>,
    #[replicated(push)]
    prices: HashMap<u8, u16>,
    #[replicated(push, condition = InitialOnly)]
    born: u32,
    local: u8,
}

/// An object with properties of every kind.
#[derive(Replicated, Default)]
struct Chest {
    #[replicated]
    lid: u16,
    #[replicated]
    other: u16,
    #[replicated(push)]
    lock: u16,
    #[replicated(push)]
    coins: FastArray<Coin>,
}

fn room() -> (Room, ObjectRef<Hero>) {
    let register = |client: &mut Client| {
        client.register::<Hero>().register::<Chest>();
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Chest>();
        server.spawn(Hero::default())
    })
}

fn shown(room: &Room, hero: ObjectRef<Hero>) -> &Hero {
    room.client().get(hero).expect("the client has it")
}

#[test]
fn s124_a_setter_marks_the_property_that_it_writes_and_no_other() {
    let (mut room, hero) = room();
    room.server[hero].ammo = 9;
    room.server[hero].counted = Counted(3);
    room.server.edit(hero).health(5);
    let before = COMPARED.get();
    room.settle();
    assert_eq!((shown(&room, hero).health, shown(&room, hero).ammo), (5, 0));
    assert_eq!(COMPARED.get(), before, "nothing but the mark was compared");
    // The marks of earlier ticks were cleared.
    room.server[hero].health = 6;
    room.server.edit(hero).ammo(10);
    room.settle();
    assert_eq!((shown(&room, hero).health, shown(&room, hero).ammo), (5, 10));
}

#[test]
fn setters_are_chained_and_the_last_value_counts() {
    let (mut room, hero) = room();
    room.server.edit(hero).health(5).ammo(3).health(7).counted(Counted(8));
    room.settle();
    let hero = shown(&room, hero);
    assert_eq!((hero.health, hero.ammo, &hero.counted), (7, 3, &Counted(8)));
}

#[test]
fn an_equal_value_marks_nothing_and_sends_nothing() {
    let (mut room, hero) = Room::measuring(room);
    room.server.edit(hero).health(5).name("Ada".to_owned()).doubled(4).slots([1, 2, 3, 4]).heat(7.0);
    room.settle();
    // The value is written without a mark, so clients do not receive it until it is marked.
    room.server[hero].health = 6;
    room.settle();
    let before = COMPARED.get();
    room.server.edit(hero).health(6).name("Ada".to_owned()).doubled(4).slots([1, 2, 3, 4]).heat(7.0);
    room.server.edit(hero).slots_at(2, 3);
    assert!(room.tick_one().iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.settle();
    assert_eq!(COMPARED.get(), before);
    assert_eq!((shown(&room, hero).health, room.updates::<Hero>(0, "name")), (5, 1));
    // A change and its opposite are made before the tick. The tick compares the property, finds no difference
    // and sends nothing.
    room.server.edit(hero).ammo(1).ammo(0);
    assert!(room.tick_one().iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
}

#[test]
fn parts_that_are_not_replicated_are_written_without_a_mark() {
    let (mut room, hero) = Room::measuring(room);
    let note = |draft| Note { text: "see".to_owned(), draft };
    room.server.edit(hero).note(note(1));
    room.settle();
    room.server.edit(hero).note(note(2));
    room.settle();
    assert_eq!((room.server[hero].note.draft, room.updates::<Hero>(0, "note")), (2, 1));
    assert_eq!(shown(&room, hero).note.text, "see");
}

#[test]
fn s124_one_element_of_a_fixed_array_is_marked_alone() {
    let (mut room, hero) = room();
    room.server[hero].slots = [7; 4];
    room.server.edit(hero).slots_at(3, 9).slots_at(0, 8);
    room.settle();
    assert_eq!(shown(&room, hero).slots, [8, 0, 0, 9]);
    room.server.edit(hero).slots([1, 7, 7, 9]);
    room.settle();
    assert_eq!(shown(&room, hero).slots, [1, 7, 7, 9], "all elements are compared");
}

#[test]
#[should_panic(expected = "the len is 4 but the index is 4")]
fn there_is_no_setter_for_an_element_that_is_not_there() {
    let (mut room, hero) = room();
    room.server.edit(hero).slots_at(4, 1);
}

#[test]
fn what_is_changed_in_place_is_marked() {
    let (mut room, hero) = room();
    let mut edit = room.server.edit(hero);
    edit.name_mut().push_str("Ada");
    edit.words_mut().push("one".to_owned());
    edit.prices_mut().insert(3, 30);
    edit.stats_mut().speed = 4;
    edit.slots_mut()[1] = 6;
    *edit.health_mut() += 2;
    room.settle();
    let hero = shown(&room, hero);
    assert_eq!((hero.name.as_str(), hero.words.as_slice()), ("Ada", ["one".to_owned()].as_slice()));
    assert_eq!((hero.prices.get(&3), hero.stats.speed, hero.stats.strength), (Some(&30), 4, 0));
    assert_eq!((hero.slots, hero.health), ([0, 6, 0, 0], 2));
}

#[test]
fn an_editor_reads_its_object() {
    let (mut room, hero) = room();
    fn wound(mut hero: Edit<'_, Hero>, damage: u16) {
        let health = hero.health.saturating_sub(damage);
        hero.health(health);
    }
    room.server[hero].health = 10;
    wound(room.server.edit(hero), 3);
    room.settle();
    assert_eq!((shown(&room, hero).health, room.server[hero].local), (7, 0));
}

#[test]
fn quantised_values_and_serialisers_are_compared_as_always() {
    let (mut room, hero) = Room::measuring(room);
    room.server.edit(hero).heat(10.0).doubled(21);
    room.settle();
    assert_eq!((shown(&room, hero).heat, shown(&room, hero).doubled), (10.0, 21));
    let updates = room.updates::<Hero>(0, "heat");
    room.server.edit(hero).heat(10.6);
    room.settle();
    assert_eq!(room.updates::<Hero>(0, "heat"), updates, "the value keeps its step");
    room.server.edit(hero).heat(10.9);
    room.settle();
    assert_eq!(shown(&room, hero).heat, 11.0);
}

#[test]
fn a_value_that_is_refused_is_reported_and_its_successor_is_sent() {
    let (mut room, hero) = room();
    room.server.edit(hero).heat(f32::NAN).health(1);
    room.settle();
    assert_eq!(room.refused().len(), 1);
    assert_eq!((shown(&room, hero).heat, shown(&room, hero).health), (0.0, 1));
    room.server.edit(hero).heat(3.0).ammo(2);
    room.settle();
    assert_eq!((shown(&room, hero).heat, shown(&room, hero).ammo), (3.0, 2));
    assert!(room.refused().is_empty());
    room.server.edit(hero).health(9);
    room.settle();
    assert_eq!(shown(&room, hero).health, 9);
}

#[test]
fn s40_a_setter_does_not_send_what_is_sent_only_with_openings() {
    let (mut room, hero) = room();
    room.server.edit(hero).born(4);
    room.settle();
    assert_eq!(shown(&room, hero).born, 0);
    room.enter();
    room.settle();
    assert_eq!(room.guests[1].client.get(hero).map(|hero| hero.born), Some(4));
}

#[test]
fn new_objects_and_objects_of_new_clients_are_edited_like_others() {
    let (mut room, hero) = room();
    let younger = room.server.spawn(Hero::default());
    room.server.edit(younger).health(3);
    room.server.edit(hero).health(4);
    room.enter();
    room.server.edit(hero).ammo(2);
    room.settle();
    room.server.edit(younger).ammo(5);
    room.settle();
    for guest in &room.guests {
        let of = |hero| guest.client.get(hero).map(|hero: &Hero| (hero.health, hero.ammo));
        assert_eq!((of(hero), of(younger)), (Some((4, 2)), Some((3, 5))));
    }
}

#[test]
fn properties_without_push_are_found_by_comparison() {
    let (mut room, _) = room();
    let chest = room.server.spawn(Chest::default());
    room.settle();
    room.server.edit(chest).lid(4);
    room.server[chest].lock = 6;
    room.settle();
    let seen = |room: &Room| room.client().get(chest).map(|chest| (chest.lid, chest.lock, chest.coins.len()));
    assert_eq!(seen(&room), Some((4, 0, 0)), "the lock was not marked");
    room.server.edit(chest).lock(7);
    room.server.edit(chest).coins_mut().push(Coin { worth: 2 });
    room.settle();
    assert_eq!(seen(&room), Some((4, 7, 1)));
    room.server.edit(chest).coins(FastArray::from([Coin { worth: 1 }, Coin { worth: 2 }]));
    room.settle();
    assert_eq!(seen(&room), Some((4, 7, 2)));
}

#[test]
fn an_equal_value_does_not_even_compare_an_object_without_push() {
    let (mut room, _) = room();
    let chest = room.server.spawn(Chest { lid: 4, ..Chest::default() });
    room.settle();
    room.server.object(chest).set_dormancy(Dormancy::All);
    room.settle();
    room.server.edit(chest).lid(4).lock(0);
    room.settle();
    assert_eq!(room.client().get(chest).map(|chest| chest.lid), Some(4));
    room.server.edit(chest).lid(5);
    room.settle();
    assert_eq!(room.client().get(chest).map(|chest| chest.lid), Some(5));
}

#[test]
fn an_object_that_is_gone_has_no_editor() {
    let (mut room, hero) = room();
    assert!(room.server.try_edit(hero).is_some());
    room.server.despawn(hero);
    assert!(room.server.try_edit(hero).is_none());
    assert!(room.server.try_edit(ObjectRef::<Hero>::default()).is_none());
}

#[test]
#[should_panic(expected = "there is no Hero")]
fn an_editor_of_an_object_that_is_gone_panics() {
    let (mut room, hero) = room();
    room.server.despawn(hero);
    room.server.edit(hero).health(1);
}

#[test]
fn marks_move_with_their_object_and_end_with_it() {
    let (mut room, first) = room();
    let [second, last] = [(); 2].map(|()| room.server.spawn(Hero::default()));
    room.settle();
    room.server.edit(first).health(1);
    room.server.edit(last).health(3);
    room.server.edit(second).health(2);
    // The last object moves to the row of the removed object.
    room.server.despawn(first);
    room.settle();
    assert!(room.client().get(first).is_none());
    assert_eq!([second, last].map(|hero| shown(&room, hero).health), [2, 3]);
}

/// An object with more handles than fit into a word.
#[derive(Replicated, Default)]
struct Wide {
    #[replicated(push)]
    left: [u8; 32],
    #[replicated(push)]
    middle: [u8; 32],
    #[replicated(push)]
    right: [u8; 32],
}

#[test]
fn properties_after_the_first_word_of_handles_are_marked_too() {
    let (mut room, wide) = Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Wide>(),
        1,
        |server| server.spawn(Wide::default()),
    );
    room.server[wide].right = [9; 32];
    room.server.edit(wide).left_at(31, 1).right_at(31, 2).right_at(0, 3);
    room.settle();
    let shown =
        room.client().get(wide).map(|wide| (wide.left[31], wide.right[31], wide.right[0], wide.right[1]));
    assert_eq!(shown, Some((1, 2, 3, 0)));
    room.server.edit(wide).left_at(2, 5);
    room.settle();
    assert_eq!(room.client().get(wide).map(|wide| wide.left[2]), Some(5));
}
