//! Packs: the supplies that players keep, use up, and lose when they die.
//!
//! *Invariant:* a supply stays the same item until it is used up or falls out. Changes of other items do not
//! affect it.

use repl::prelude::*;

use crate::game::{Arena, FULL_HEALTH};
use crate::model::*;
use crate::plane::{along, inside};

/// How many items a pack holds. More supplies of a kind are added to an item of that kind.
const ROOM: usize = 6;
/// How many items fall out of a pack when its player dies. The other items are lost.
const SPILT: usize = 2;
const MOST: u8 = 99;
const MAGAZINE: u8 = 20;

impl Player {
    /// Puts a supply into the pack.
    pub fn stow(&mut self, supply: Supply) {
        if self.pack.len() < ROOM {
            self.pack.push(supply);
            // Ids move with their items, so sorting sends nothing.
            self.pack.sort_by_key(|supply| supply.kind);
        } else if let Some(mut like) = self.pack.iter_mut().find(|other| other.kind == supply.kind) {
            like.amount = (like.amount + supply.amount).min(MOST);
        }
    }

    pub fn use_pack(&mut self) {
        if self.ammo == 0 {
            self.ammo += self.draw(SupplyKind::Rounds, MAGAZINE);
        }
        if self.health <= FULL_HEALTH / 2 && self.draw(SupplyKind::Bandages, 1) > 0 {
            self.health += 30;
        }
    }

    /// Removes at most `most` pieces of one supply from the pack, and returns how many. Removes the item when
    /// no pieces remain.
    fn draw(&mut self, kind: SupplyKind, most: u8) -> u8 {
        let Some(at) = self.pack.iter().position(|supply| supply.kind == kind) else { return 0 };
        let taken = self.pack[at].amount.min(most);
        if taken == self.pack[at].amount {
            self.pack.swap_remove(at);
        } else {
            self.pack[at].amount -= taken;
        }
        taken
    }
}

impl Arena {
    /// Drops items of a pack to the ground, where players can pick them up, and empties the pack.
    pub fn spill(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let here = server[me].position;
        let fallen: Vec<_> = server[me].pack.drain(..).take(SPILT).collect();
        for (supply, direction) in fallen.into_iter().zip([[1.0, 0.0], [0.0, 1.0]]) {
            let kind = PickupKind::Loot(Supply { loser: me, ..supply });
            let position = inside(along(here, direction, 1.0));
            self.pickups.push(server.spawn(Pickup { kind, position }));
        }
    }
}
