//! The changes of a bag: its first stacks, the scenes of the story, and random updates.
//!
//! *Invariant:* the same seed makes the same updates, whatever the network does. Each update changes a
//! replicated value, or at least the order of the items.

use repl::prelude::*;
use repl::sim::Rng;

use crate::model::{Colour, Gem, Kind, Stack};

/// How many stacks the bag begins with. Random updates keep the number of stacks near this one.
pub(crate) const STACKS: usize = 60;
const SOCKETS: usize = 3;

/// A part of the story.
pub(crate) struct Scene {
    pub(crate) title: &'static str,
    pub(crate) code: &'static str,
    pub(crate) change: fn(&mut Dealer, &mut FastArray<Stack>),
}

pub(crate) const STORY: [Scene; 9] = [
    Scene {
        title: "A lantern is picked up",
        code: "stacks.push(lantern)",
        change: |dealer, stacks| {
            stacks.push(dealer.stack(Kind::Lantern, 1));
        },
    },
    Scene {
        title: "Two arrows go on a stack",
        code: "stacks[9].count += 2",
        change: |_, stacks| stacks[9].count += 2,
    },
    Scene {
        title: "A ruby is set in a sword",
        code: "stacks[31].sockets.push(ruby)",
        change: |dealer, stacks| {
            let ruby = dealer.gem(Colour::Ruby);
            stacks[31].sockets.push(ruby);
        },
    },
    Scene {
        title: "The sword is swung, the ruby fades",
        code: "stacks[31].sockets[0].charge -= 5",
        change: |_, stacks| stacks[31].sockets[0].charge -= 5,
    },
    Scene {
        title: "The market closes, prices double",
        code: "for mut stack in stacks.iter_mut() { stack.price *= 2 }",
        change: |_, stacks| stacks.iter_mut().for_each(|mut stack| stack.price *= 2),
    },
    Scene {
        title: "The bag is sorted",
        code: "stacks.sort_by_key(|stack| stack.kind)",
        change: |_, stacks| stacks.sort_by_key(|stack| stack.kind),
    },
    Scene {
        title: "A stack from the middle is dropped",
        code: "stacks.remove(20)",
        change: |_, stacks| drop(stacks.remove(20)),
    },
    Scene {
        title: "Rain: four stacks wear, of 60",
        code: "stacks.iter_mut().filter(|stack| stack.kind == Rope).take(4)",
        change: |_, stacks| {
            let ropes = stacks.iter_mut().filter(|stack| stack.kind == Kind::Rope).take(4);
            ropes.for_each(|mut rope| rope.wear += 1);
        },
    },
    Scene {
        title: "All potions are traded for one cloak",
        code: "stacks.retain(|stack| stack.kind != Potion); stacks.insert(0, cloak)",
        change: |dealer, stacks| {
            stacks.retain(|stack| stack.kind != Kind::Potion);
            stacks.insert(0, dealer.stack(Kind::Cloak, 1));
        },
    },
];

/// Deals stacks and gems.
pub(crate) struct Dealer {
    rng: Rng,
    next_serial: u16,
}

impl Dealer {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), next_serial: 1 }
    }

    /// Returns the stacks that the bag begins with: each kind in turn, some with gems.
    pub(crate) fn stacks(&mut self) -> Vec<Stack> {
        let kinds = Kind::ALL.into_iter().cycle().take(STACKS).enumerate();
        let stack = |(at, kind)| {
            let count = 1 + self.rng.below(20) as u8;
            let mut stack = self.stack(kind, count);
            if at % 5 == 0 {
                let gem = self.any_gem();
                stack.sockets.push(gem);
            }
            stack
        };
        kinds.map(stack).collect()
    }

    fn stack(&mut self, kind: Kind, count: u8) -> Stack {
        let price = 1 + self.rng.below(1_000) as u32;
        Stack { kind, count, price, ..Stack::default() }
    }

    fn gem(&mut self, colour: Colour) -> Gem {
        let serial = self.next_serial;
        self.next_serial = serial.wrapping_add(1);
        Gem { colour, serial, charge: 100 }
    }

    fn any_gem(&mut self) -> Gem {
        let colour = Colour::ALL[self.rng.below(3) as usize];
        self.gem(colour)
    }

    fn any_stack(&mut self) -> Stack {
        let kind = Kind::ALL[self.rng.below(8) as usize];
        let count = 1 + self.rng.below(20) as u8;
        self.stack(kind, count)
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.below(end as u64) as usize
    }

    /// Makes a random update.
    pub(crate) fn deal(&mut self, stacks: &mut FastArray<Stack>) {
        if stacks.len() < STACKS / 2 {
            stacks.push(self.any_stack());
            return;
        }
        let at = self.below(stacks.len());
        match self.below(100) {
            0..35 => stacks[at].count = (stacks[at].count + 1) % 100,
            35..50 => stacks[at].wear = (stacks[at].wear + 1) % 101,
            50..70 => self.deal_gem(at, stacks),
            70..78 => drop(stacks.push(self.any_stack())),
            78..82 => drop(stacks.insert(at, self.any_stack())),
            82..88 => drop(stacks.remove(at)),
            88..93 => drop(stacks.swap_remove(at)),
            93..95 => stacks.sort_by_key(|stack| (stack.kind, stack.count)),
            95..97 => stacks.rotate_left(at),
            97..99 => stacks.swap(at, 0),
            _ => stacks.truncate(stacks.len() - 5),
        }
    }

    /// Adds a gem to a stack, or uses, moves or breaks one of its gems.
    fn deal_gem(&mut self, at: usize, stacks: &mut FastArray<Stack>) {
        let count = stacks[at].sockets.len();
        match self.below(10) {
            0..5 if count > 0 => {
                let gem = self.below(count);
                let sockets = &mut stacks[at].sockets;
                sockets[gem].charge = sockets[gem].charge.checked_sub(1).unwrap_or(100);
            }
            5..7 if count > 1 => stacks[at].sockets.reverse(),
            7.. if count > 0 => drop(stacks[at].sockets.swap_remove(0)),
            _ if count < SOCKETS => drop(stacks[at].sockets.push(self.any_gem())),
            _ => stacks[at].sockets.clear(),
        }
    }
}
