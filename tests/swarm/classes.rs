//! The classes of the random worlds: between them every kind of property and every condition.
//!
//! *Invariant:* a change touches one property and leaves it within its limits.

use repl::sim::Rng;
use repl::{Callbacks, Condition, Guid, NetSerialize, ObjectRef, Replicated};

use crate::ledger::{Leaves, hash};

/// What a client's copy of an object was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// How often something arrived.
    pub(crate) receipts: u32,
    /// Notifies: the property, its old value, and the one it had then.
    pub(crate) notifies: Vec<(usize, u64, u64)>,
    pub(crate) inits: u32,
    expects_post: bool,
}

impl Shown {
    fn pre(&mut self) {
        assert!(!self.expects_post, "a receipt within a receipt");
        self.expects_post = true;
    }

    fn post(&mut self) {
        assert!(std::mem::take(&mut self.expects_post), "a receipt ends that did not begin");
        self.receipts += 1;
    }
}

/// What a change may draw upon.
pub(crate) struct Ink<'a> {
    pub(crate) rng: &'a mut Rng,
    /// A secret of a property.
    pub(crate) canary: &'a mut dyn FnMut(usize) -> u128,
    /// Objects to refer to: some are gone, some will be unknown to clients.
    pub(crate) guids: &'a [Guid],
}

impl Ink<'_> {
    fn text(&mut self, longest: u64) -> String {
        let len = self.rng.below(longest + 1);
        (0..len).map(|_| *self.rng.pick(&['a', 'b', 'c', 'ä', '☂', 'z']).expect("letters")).collect()
    }

    fn target(&mut self) -> ObjectRef<Actor> {
        let is_null = self.rng.chance(0.2);
        self.rng.pick(self.guids).filter(|_| !is_null).map_or(ObjectRef::NULL, |&guid| ObjectRef::new(guid))
    }
}

/// A class of the worlds.
pub(crate) trait Creature: Replicated + Clone + Default {
    /// The conditions of its properties, in their order.
    const CONDITIONS: &'static [Condition];
    /// What clients make it from.
    fn archetype(veteran: bool) -> Self {
        let _ = veteran;
        Self::default()
    }
    /// The leaves of all properties.
    fn leaves(&self, leaves: &mut Leaves);
    /// Changes one property.
    fn change(&mut self, property: usize, ink: &mut Ink<'_>);
    /// The values of the properties with notifies.
    fn notified(&self) -> Vec<(usize, u64)>;
    fn shown(&mut self) -> &mut Shown;
    /// The number the test gave the object; not replicated.
    fn uid(&mut self) -> &mut u32;
}

macro_rules! tell {
    ($($class:ident),*) => {$(
        impl Callbacks for $class {
            fn pre_net_receive(&mut self) {
                self.shown.pre();
            }

            fn post_net_receive(&mut self) {
                self.shown.post();
            }

            fn post_net_init(&mut self) {
                self.shown.inits += 1;
            }
        }
    )*};
}

tell!(Actor, Pack, Chest, Dot);

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(crate) enum Stance {
    #[default]
    Standing,
    Riding {
        mount: ObjectRef<Actor>,
        seat: u8,
    },
    Talking(String, Option<i16>),
}

/// Few bytes, every condition.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Actor {
    #[replicated(notify = on_health)]
    pub(crate) health: u16,
    #[replicated]
    mark: u128,
    #[replicated(condition = OwnerOnly)]
    ammo: u128,
    #[replicated(condition = SkipOwner)]
    pose: u128,
    #[replicated(condition = InitialOnly)]
    name: u128,
    #[replicated(condition = Custom)]
    cheat: u128,
    #[replicated(condition = Dynamic)]
    mode: u128,
    #[replicated(condition = SimulatedOnly)]
    ghost: u128,
    #[replicated(condition = AutonomousOnly)]
    input: u128,
    #[replicated(condition = SimulatedOrPhysics)]
    body: u128,
    #[replicated(condition = InitialOrOwner)]
    pub(crate) title: String,
    #[replicated(quantize(step = 0.25, range = -512.0..=512.0), saturate, notify = on_position)]
    position: [f32; 3],
    #[replicated(notify = on_target)]
    target: ObjectRef<Self>,
    #[replicated]
    stance: Stance,
    #[replicated(push)]
    pushed: u32,
    #[replicated(condition = ReplayOrOwner)]
    tape: u128,
    #[replicated(condition = OwnerOnly, notify = on_orders)]
    orders: Vec<u8>,
    shown: Shown,
    uid: u32,
}

impl Actor {
    pub(crate) const CUSTOM: usize = 5;
    pub(crate) const DYNAMIC: usize = 6;
    pub(crate) const PUSHED: usize = 14;

    fn on_health(&mut self, old: &u16) {
        self.shown.notifies.push((0, hash(&old.to_le_bytes()), hash(&self.health.to_le_bytes())));
    }

    fn on_position(&mut self, old: &[f32; 3]) {
        self.shown.notifies.push((11, position_hash(old), position_hash(&self.position)));
    }

    fn on_target(&mut self, old: &ObjectRef<Self>) {
        self.shown.notifies.push((12, hash(&reference_bytes(*old)), hash(&reference_bytes(self.target))));
    }

    #[expect(clippy::ptr_arg, reason = "a notify gets a reference to the field's own type")]
    fn on_orders(&mut self, old: &Vec<u8>) {
        self.shown.notifies.push((16, hash(old), hash(&self.orders)));
    }

    fn canaries(&mut self) -> [(usize, &mut u128); 9] {
        [
            (1, &mut self.mark),
            (2, &mut self.ammo),
            (3, &mut self.pose),
            (4, &mut self.name),
            (5, &mut self.cheat),
            (6, &mut self.mode),
            (7, &mut self.ghost),
            (8, &mut self.input),
            (9, &mut self.body),
        ]
    }
}

fn position_hash(position: &[f32; 3]) -> u64 {
    hash(&position.map(|coordinate| ((coordinate * 4.0).round() as i16).to_le_bytes()).concat())
}

fn reference_bytes(reference: ObjectRef<Actor>) -> Vec<u8> {
    reference.guid().map_or(Vec::new(), |guid| {
        [guid.slot().to_le_bytes(), guid.generation().get().to_le_bytes()].concat()
    })
}

impl Creature for Actor {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::SkipOwner,
        Condition::InitialOnly,
        Condition::Custom,
        Condition::Dynamic,
        Condition::SimulatedOnly,
        Condition::AutonomousOnly,
        Condition::SimulatedOrPhysics,
        Condition::InitialOrOwner,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::ReplayOrOwner,
        Condition::OwnerOnly,
    ];

    fn archetype(veteran: bool) -> Self {
        if !veteran {
            return Self::default();
        }
        Self { health: 100, title: "veteran".into(), orders: vec![3, 1], pushed: 7, ..Self::default() }
    }

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.health.to_le_bytes());
        let canaries = [
            self.mark, self.ammo, self.pose, self.name, self.cheat, self.mode, self.ghost, self.input,
            self.body,
        ];
        for (property, canary) in (1..).zip(canaries) {
            leaves.property(property).value(&[], &canary.to_le_bytes());
        }
        leaves.property(10).value(&[], self.title.as_bytes());
        for (at, coordinate) in self.position.iter().enumerate() {
            let steps = (coordinate.clamp(-512.0, 512.0) * 4.0).round() as i32;
            leaves.property(11).value(&[at], &steps.to_le_bytes());
        }
        leaves.property(12).reference(&[], &reference_bytes(self.target), &[], self.target.guid());
        leaves.property(13);
        match &self.stance {
            Stance::Riding { mount, seat } => {
                let (full, masked) = ([&reference_bytes(*mount)[..], &[*seat]].concat(), [*seat]);
                leaves.reference(&[], &full, &masked, mount.guid());
            }
            other => leaves.value(&[], format!("{other:?}").as_bytes()),
        }
        leaves.property(14).value(&[], &self.pushed.to_le_bytes());
        leaves.property(15).value(&[], &self.tape.to_le_bytes());
        leaves_of_list(leaves.property(16), &self.orders, |leaves, at, order| leaves.value(&[at], &[*order]));
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.health = ink.rng.below(200) as u16,
            10 => self.title = ink.text(20),
            11 => {
                let at = ink.rng.below(3) as usize;
                self.position[at] = (ink.rng.below(4_400) as f32 - 2_200.0) * 0.25 + 0.07;
            }
            12 => self.target = ink.target(),
            13 => {
                self.stance = match ink.rng.below(3) {
                    0 => Stance::Standing,
                    1 => Stance::Riding { mount: ink.target(), seat: ink.rng.below(4) as u8 },
                    _ => Stance::Talking(ink.text(9), ink.rng.chance(0.5).then_some(-3)),
                }
            }
            14 => self.pushed = ink.rng.next_u64() as u32,
            15 => self.tape = (ink.canary)(property),
            16 => change_list(&mut self.orders, 6, ink, |order, ink| *order = ink.rng.below(9) as u8),
            canary => {
                let value = (ink.canary)(property);
                if let Some((_, slot)) = self.canaries().into_iter().find(|(known, _)| *known == canary) {
                    *slot = value;
                }
            }
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![
            (0, hash(&self.health.to_le_bytes())),
            (11, position_hash(&self.position)),
            (12, hash(&reference_bytes(self.target))),
            (16, hash(&self.orders)),
        ]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Limb {
    health: u8,
    joints: Vec<u16>,
    label: Option<String>,
}

impl Limb {
    fn leaves(&self, at: usize, leaves: &mut Leaves) {
        leaves.value(&[at], b"limb");
        leaves.value(&[at, 1], &[self.health]);
        leaves_of_list(leaves, &self.joints, |leaves, joint, value| {
            leaves.value(&[at, 2, joint + 1], &value.to_le_bytes())
        });
        if let Some(label) = &self.label {
            leaves.value(&[at, 3], label.as_bytes());
        }
    }

    fn change(&mut self, ink: &mut Ink<'_>) {
        match ink.rng.below(3) {
            0 => self.health = ink.rng.below(256) as u8,
            1 => change_list(&mut self.joints, 4, ink, |joint, ink| *joint = ink.rng.below(9) as u16),
            _ => self.label = ink.rng.chance(0.7).then(|| ink.text(4)),
        }
    }
}

/// Arrays of every kind.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Pack {
    #[replicated]
    mark: u128,
    #[replicated(notify = on_items)]
    items: Vec<u16>,
    #[replicated]
    nested: Vec<Vec<u8>>,
    #[replicated]
    limbs: Vec<Limb>,
    #[replicated]
    maybe: Option<Limb>,
    #[replicated(condition = OwnerOnly)]
    stash: Vec<u128>,
    #[replicated]
    targets: Vec<ObjectRef<Actor>>,
    #[replicated(condition = SkipOwner)]
    words: [String; 2],
    shown: Shown,
    uid: u32,
}

impl Pack {
    #[expect(clippy::ptr_arg, reason = "a notify gets a reference to the field's own type")]
    fn on_items(&mut self, old: &Vec<u16>) {
        self.shown.notifies.push((1, items_hash(old), items_hash(&self.items)));
    }
}

fn items_hash(items: &[u16]) -> u64 {
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    hash(&bytes)
}

impl Creature for Pack {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::None,
        Condition::SkipOwner,
    ];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        leaves_of_list(leaves.property(1), &self.items, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves_of_list(leaves.property(2), &self.nested, |leaves, at, row| {
            leaves.value(&[at], b"row");
            leaves_of_list(leaves, row, |leaves, cell, value| leaves.value(&[at, cell + 1], &[*value]));
        });
        leaves_of_list(leaves.property(3), &self.limbs, |leaves, at, limb| limb.leaves(at, leaves));
        leaves.property(4);
        if let Some(limb) = &self.maybe {
            limb.leaves(0, leaves);
        }
        leaves_of_list(leaves.property(5), &self.stash, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves_of_list(leaves.property(6), &self.targets, |leaves, at, target| {
            leaves.reference(&[at], &reference_bytes(*target), &[], target.guid());
        });
        leaves_of_list(leaves.property(7), &self.words, |leaves, at, word| {
            leaves.value(&[at], word.as_bytes())
        });
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => change_list(&mut self.items, 24, ink, |item, ink| *item = ink.rng.below(50) as u16),
            2 => change_list(&mut self.nested, 5, ink, |row, ink| {
                change_list(row, 5, ink, |cell, ink| *cell = ink.rng.below(9) as u8);
            }),
            3 => change_list(&mut self.limbs, 5, ink, Limb::change),
            4 if ink.rng.chance(0.4) => self.maybe = None,
            4 => self.maybe.get_or_insert_default().change(ink),
            5 => change_list(&mut self.stash, 4, ink, |item, ink| *item = (ink.canary)(property)),
            6 => change_list(&mut self.targets, 4, ink, |target, ink| *target = ink.target()),
            _ => {
                let at = ink.rng.below(2) as usize;
                self.words[at] = ink.text(9);
            }
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(1, items_hash(&self.items))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}

/// More than a packet holds.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Chest {
    #[replicated]
    mark: u128,
    #[replicated]
    cells: Vec<u64>,
    #[replicated]
    text: String,
    #[replicated(condition = OwnerOnly)]
    treasure: Vec<u128>,
    #[replicated]
    lid: bool,
    shown: Shown,
    uid: u32,
}

impl Creature for Chest {
    const CONDITIONS: &'static [Condition] =
        &[Condition::None, Condition::None, Condition::None, Condition::OwnerOnly, Condition::None];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        leaves_of_list(leaves.property(1), &self.cells, |leaves, at, cell| {
            leaves.value(&[at], &cell.to_le_bytes())
        });
        leaves.property(2).value(&[], self.text.as_bytes());
        leaves_of_list(leaves.property(3), &self.treasure, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves.property(4).value(&[], &[self.lid.into()]);
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => {
                let len = ink.rng.below(300) as usize;
                if ink.rng.chance(0.3) {
                    self.cells.resize_with(len, || ink.rng.next_u64());
                } else {
                    change_list(&mut self.cells, 300, ink, |cell, ink| *cell = ink.rng.next_u64());
                }
            }
            2 if ink.rng.chance(0.5) => self.text = ink.text(30),
            2 => self.text = ink.text(1_300),
            3 => {
                let len = ink.rng.below(150) as usize;
                let Ink { rng, canary, .. } = ink;
                if rng.chance(0.5) {
                    self.treasure.resize_with(len, || canary(property));
                } else {
                    change_list(&mut self.treasure, 150, ink, |item, ink| *item = (ink.canary)(property));
                }
            }
            _ => self.lid = !self.lid,
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        Vec::new()
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}

/// Next to nothing, and no conditions.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Dot {
    #[replicated(notify = on_x)]
    x: u8,
    #[replicated]
    mark: u128,
    shown: Shown,
    uid: u32,
}

impl Dot {
    fn on_x(&mut self, old: &u8) {
        self.shown.notifies.push((0, hash(&[*old]), hash(&[self.x])));
    }
}

impl Creature for Dot {
    const CONDITIONS: &'static [Condition] = &[Condition::None, Condition::None];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &[self.x]);
        leaves.property(1).value(&[], &self.mark.to_le_bytes());
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.x = ink.rng.below(16) as u8,
            _ => self.mark = (ink.canary)(property),
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(0, hash(&[self.x]))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}

fn leaves_of_list<T>(leaves: &mut Leaves, list: &[T], mut each: impl FnMut(&mut Leaves, usize, &T)) {
    for (at, element) in list.iter().enumerate() {
        each(leaves, at, element);
    }
}

/// Grows, cuts, shifts or changes a list.
fn change_list<T: Default + Clone>(
    list: &mut Vec<T>,
    longest: usize,
    ink: &mut Ink<'_>,
    change: impl Fn(&mut T, &mut Ink<'_>),
) {
    let at = ink.rng.below(list.len() as u64 + 1) as usize;
    match ink.rng.below(8) {
        0 => list.truncate(at),
        1 => list.clear(),
        2 | 3 if list.len() < longest => list.insert(at, T::default()),
        4 if at < list.len() => drop(list.remove(at)),
        5 if list.len() + 3 <= longest => list.resize(list.len() + 3, T::default()),
        6 => list.rotate_left(at),
        _ => {}
    }
    let at = at.min(list.len().saturating_sub(1));
    if let Some(element) = list.get_mut(at) {
        change(element, ink);
    }
}
