//! Attacks: bytes that no correct client and no correct server sends. Client and server must accept or refuse
//! every packet, apply all of it or nothing, and allocate no more memory than its size justifies.
//!
//! *Invariant:* every forged packet has the correct checksum, so the check does not refuse it.

#[path = "../../support/mod.rs"]
mod support;

#[path = "../../support/allocator.rs"]
mod allocator;
mod claims;
mod costs;
mod differences;
#[path = "../../support/forge.rs"]
mod forge;
mod fragments;
mod grammar;
mod hello;
mod items;
mod messages;
mod recording;
mod statics;
mod to_client;
mod to_server;

use repl::prelude::*;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Mood {
    #[default]
    Calm,
    Angry {
        at: u16,
        words: Vec<String>,
    },
    Lost(Option<i8>),
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Limb {
    health: u8,
    joints: Vec<u16>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Bag {
    kind: u8,
    marks: Vec<u8>,
    target: ObjectRef<Actor>,
    inner: FastArray<u16>,
    #[replicated(skip)]
    calls: u32,
}

impl ItemCallbacks for Bag {
    fn post_replicated_change(&mut self, _: &ChangedProperties<'_>) {
        self.calls += 1;
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Actor {
    score: u32,
    #[replicated(notify = told)]
    name: String,
    #[replicated(quantize(step = 0.5, range = -100.0..=100.0), saturate)]
    place: [f32; 2],
    #[replicated(max_len = 9)]
    limbs: Vec<Limb>,
    mood: Mood,
    target: ObjectRef<Self>,
    friends: Vec<ObjectRef<Self>>,
    maybe: Option<u16>,
    #[replicated(range = -5..=900)]
    grade: i16,
    letter: char,
    #[replicated(notify = told, notify_always)]
    grid: Vec<Vec<bool>>,
    #[replicated(delta)]
    story: String,
    #[replicated(delta)]
    heroes: Vec<ObjectRef<Self>>,
    bags: FastArray<Bag>,
    numbers: FastArray<u8>,
    #[replicated(skip)]
    calls: u32,
}

impl Actor {
    fn told(&mut self) {
        self.calls += 1;
    }

    /// Returns the bytes that the object owns on the heap, and the number of its references.
    fn weight(&self) -> (usize, usize) {
        let words = match &self.mood {
            Mood::Angry { words, .. } => words.iter().map(|word| word.len() + size_of::<String>()).sum(),
            _ => 0,
        };
        let limbs = self.limbs.iter().map(|limb| 2 * limb.joints.len() + size_of::<Limb>()).sum::<usize>();
        let grid = self.grid.iter().map(|row| row.len() + size_of::<Vec<bool>>()).sum::<usize>();
        let bag =
            |bag: &Bag| bag.marks.len() + BESIDE_ITEM * bag.inner.len() + size_of::<Bag>() + BESIDE_ITEM;
        let items = self.bags.iter().map(bag).sum::<usize>() + BESIDE_ITEM * self.numbers.len();
        // Up to three earlier values are kept, and the form from which references are read again.
        let differing = 5 * (self.story.len() + 8 * self.heroes.len());
        let beside = self.name.len() + words + limbs + grid + items + 8 * self.friends.len() + differing;
        (beside, self.friends.len() + self.heroes.len() + self.bags.len() + 1)
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Pebble {
    weight: u8,
}

/// The path of an object that both sides have.
const PATH: &str = "stage/actor";

fn register(client: &mut Client) {
    client.register::<Actor>().register::<Pebble>();
    client.statics().place(PATH, placed_actor());
}

/// Returns the object that clients have placed under [`PATH`] before the object of the server arrives.
fn placed_actor() -> Actor {
    let bags = FastArray::from([Bag::default()]);
    Actor { score: 7, friends: vec![ObjectRef::NULL; 3], bags, maybe: Some(1), ..Actor::default() }
}

/// Everything that a client shows, in the order of the references.
type Shown = (Vec<(ObjectRef<Actor>, Actor)>, Vec<(ObjectRef<Pebble>, Pebble)>, Option<Actor>);

fn shown(client: &Client) -> Shown {
    let mut actors: Vec<_> =
        client.objects::<Actor>().map(|(reference, actor)| (reference, actor.clone())).collect();
    let mut pebbles: Vec<_> =
        client.objects::<Pebble>().map(|(reference, pebble)| (reference, pebble.clone())).collect();
    actors.sort_by_key(|(reference, _)| *reference);
    pebbles.sort_by_key(|(reference, _)| *reference);
    (actors, pebbles, client.placed(PATH).cloned())
}

/// The bytes that an array stores for each item in addition to the item: its id, its time, and its entry in
/// the index.
const BESIDE_ITEM: usize = 48;

/// Returns how many bytes a packet of `len` bytes may make its receiver allocate, not counting the objects
/// that it creates.
const fn budget(len: usize) -> usize {
    16 * len + 4_096
}

/// Returns how many bytes the objects that a client shows may occupy. Objects with notifies are stored twice,
/// and a third time if items with arrays have callbacks. A vector has space for at least four elements, and
/// for twice as many each time it grows. Each object and each reference needs some bytes of bookkeeping.
fn worth(client: &Client) -> usize {
    let (mut bytes, mut actors, mut references) = (0, 0_usize, 0);
    for (_, actor) in client.objects::<Actor>() {
        let (beside, mentions) = actor.weight();
        bytes += beside;
        references += mentions;
        actors += 1;
    }
    let places = if actors == 0 { 0 } else { actors.next_power_of_two().max(4) };
    let pebbles = client.objects::<Pebble>().count();
    6 * (bytes + places * size_of::<Actor>()) + 512 * (actors + pebbles + references)
}
