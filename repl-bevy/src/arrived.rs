//! The way of a component from value to value.

use bevy_ecs::prelude::*;
use std::marker::PhantomData;

/// Says that a component is shown on its way from one value of the server to the next one, and of which tick
/// its newest value is, until that was taken.
#[derive(Component)]
pub(crate) struct Arrived<T: 'static> {
    pub(crate) tick: Option<u64>,
    component: PhantomData<fn() -> T>,
}

impl<T> Arrived<T> {
    pub(crate) const fn at(tick: u64) -> Self {
        Self { tick: Some(tick), component: PhantomData }
    }
}
