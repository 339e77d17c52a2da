//! The class of actors: small objects that use every condition.
//!
//! *Invariant:* each value that a condition may hide is a canary, except the title and the orders.

use repl::{Callbacks, Condition, NetSerialize, ObjectRef, Replicated};

use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

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

tell!(Actor);

impl Actor {
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

pub(super) fn reference_bytes(reference: ObjectRef<Actor>) -> Vec<u8> {
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
    const PUSH: &'static [usize] = &[14];

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
            let position = coordinate.clamp(-512.0, 512.0) * 4.0;
            let (step, towards) = (position.round(), (position - position.round()).signum());
            let is_kept = (position - step).abs() >= 0.25;
            let kept = is_kept.then_some((step + towards) as i32);
            leaves.property(11).step(&[at], step as i32, kept);
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
                self.position[at] = match ink.rng.below(3) {
                    0 => (ink.rng.below(4_400) as f32 - 2_200.0) * 0.25 + 0.07,
                    // The position moves by less than a quantisation step.
                    _ => self.position[at] + (ink.rng.below(21) as f32 - 10.0) * 0.02,
                };
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
