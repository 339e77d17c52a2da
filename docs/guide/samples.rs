//! The code in the guide, a module for each chapter that has some. The documentation tests compile and run
//! it. The chapter on Bevy is a page of `repl-bevy`, whose tests run its code.
//!
//! *Invariant:* there is nothing in this package but the chapters.

#[cfg(doctest)]
#[doc = include_str!("src/first-game.md")]
mod first_game {}
#[cfg(doctest)]
#[doc = include_str!("src/objects.md")]
mod objects {}
#[cfg(doctest)]
#[doc = include_str!("src/collections.md")]
mod collections {}
#[cfg(doctest)]
#[doc = include_str!("src/differences.md")]
mod differences {}
#[cfg(doctest)]
#[doc = include_str!("src/updates.md")]
mod updates {}
#[cfg(doctest)]
#[doc = include_str!("src/messages.md")]
mod messages {}
#[cfg(doctest)]
#[doc = include_str!("src/sight.md")]
mod sight {}
#[cfg(doctest)]
#[doc = include_str!("src/budgets.md")]
mod budgets {}
#[cfg(doctest)]
#[doc = include_str!("src/owners.md")]
mod owners {}
#[cfg(doctest)]
#[doc = include_str!("src/assets.md")]
mod assets {}
#[cfg(doctest)]
#[doc = include_str!("src/prediction.md")]
mod prediction {}
#[cfg(doctest)]
#[doc = include_str!("src/interpolation.md")]
mod interpolation {}
#[cfg(doctest)]
#[doc = include_str!("src/network.md")]
mod network {}
#[cfg(doctest)]
#[doc = include_str!("src/browser.md")]
mod browser {}
#[cfg(doctest)]
#[doc = include_str!("src/host.md")]
mod host {}
#[cfg(doctest)]
#[doc = include_str!("src/external.md")]
mod external {}
#[cfg(doctest)]
#[doc = include_str!("src/simulator.md")]
mod simulator {}
#[cfg(doctest)]
#[doc = include_str!("src/snapshots.md")]
mod snapshots {}
#[cfg(doctest)]
#[doc = include_str!("src/measuring.md")]
mod measuring {}
#[cfg(doctest)]
#[doc = include_str!("src/debugging.md")]
mod debugging {}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
#[cfg(doctest)]
#[doc = include_str!("src/from-unreal.md")]
mod from_unreal {}
