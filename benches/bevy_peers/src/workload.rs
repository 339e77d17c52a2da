//! The entities, and how they change in each tick. Both are the same for each library.

use std::collections::VecDeque;

use bevy_ecs::prelude::*;
use repl::Replicated;
use serde::{Deserialize, Serialize};

use crate::row::Row;

/// How many entities are replaced in a tick.
const REPLACED: usize = 1_000;
/// In a tick in which one in a hundred entities moves, the distance between two that move.
const STRIDE: usize = 100;

/// The position of an entity.
#[derive(Component, Replicated, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[replicated(all)]
pub(crate) struct Position {
    x: f32,
    y: f32,
    z: f32,
}

/// The number of an entity, which never changes.
#[derive(Component, Replicated, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[replicated(all)]
pub(crate) struct Number {
    number: u32,
}

impl Position {
    fn start(number: u32) -> Self {
        let at = |step: f32| number as f32 * step % 500.0;
        Self { x: at(1.37), y: at(0.21), z: at(2.03) }
    }

    /// Moves by a step, which differs for each axis.
    fn walk(&mut self) {
        self.x += 0.11;
        self.y -= 0.07;
        self.z += 0.05;
    }

    pub(crate) fn bits(&self) -> [u32; 3] {
        [self.x, self.y, self.z].map(f32::to_bits)
    }
}

impl Number {
    pub(crate) const fn get(self) -> u32 {
        self.number
    }
}

/// The entities of a server, oldest first.
#[derive(Default)]
pub(crate) struct Population {
    entities: VecDeque<Entity>,
    spawned: u32,
    ticks: usize,
}

impl Population {
    /// Spawns entities. `marker` returns the components that replicate an entity.
    pub(crate) fn spawn<B: Bundle>(&mut self, world: &mut World, count: usize, marker: impl Fn() -> B) {
        for _ in 0..count {
            let number = self.spawned;
            let entity = world.spawn((marker(), Position::start(number), Number { number })).id();
            self.entities.push_back(entity);
            self.spawned += 1;
        }
    }

    /// Changes the entities as in one tick of the row.
    pub(crate) fn live<B: Bundle>(&mut self, row: Row, world: &mut World, marker: impl Fn() -> B) {
        match row {
            Row::Idle => {}
            Row::Few => walk(world, self.entities.iter().skip(self.ticks % STRIDE).step_by(STRIDE)),
            Row::All => walk(world, self.entities.iter()),
            Row::Churn => {
                self.entities.drain(..REPLACED).for_each(|entity| _ = world.despawn(entity));
                self.spawn(world, REPLACED, marker);
            }
        }
        self.ticks += 1;
    }
}

fn walk<'a>(world: &mut World, entities: impl Iterator<Item = &'a Entity>) {
    for &entity in entities {
        if let Some(mut position) = world.get_mut::<Position>(entity) {
            position.walk();
        }
    }
}
