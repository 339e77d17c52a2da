//! Assets: the server's objects refer to them, and each client adds some of them at some time. Only runs with
//! a seed of [`FIRST_SEED`] or more have assets.
//!
//! *Invariant:* runs with smaller seeds have no assets, so they never change.

use std::collections::BTreeSet;

use repl::sim::Rng;
use repl::{AssetRef, Client, Guid, Server};

use crate::kinds::SIGN;
use crate::plan::Plan;

/// The smallest seed whose run has assets.
pub(crate) const FIRST_SEED: u64 = 70_000;

/// The paths of all assets in the order of their numbers: each after the folder in which it is.
const PATHS: [&str; 12] = [
    "meshes",
    "meshes/rocks",
    "meshes/rocks/big",
    "meshes/rocks/small",
    "meshes/tree",
    "sounds",
    "sounds/steps",
    "sounds/steps/on gravel, and much longer than the other paths, so that a packet has room for few of them",
    "sounds/rain",
    "x",
    "x/",
    "x//y",
];

/// How many assets there are.
pub(crate) const ASSETS: u64 = PATHS.len() as u64;

/// Makes a run have objects that refer to assets.
pub(crate) fn draw(plan: &mut Plan) {
    let mut rng = Rng::new(plan.seed).fork(70);
    plan.weights[SIGN] = rng.range(4..20);
    plan.asset_arrivals = *rng.pick(&[0.0, 0.01, 0.1, 1.0]).expect("chances");
    plan.objects = plan.objects.max(2);
    if plan.short_lives.is_some() {
        // With thousands of short lives and 90 % loss in both directions, a client needs about a minute.
        plan.cap_loss(0.5);
    }
}

/// Adds all assets to the server.
pub(crate) fn add_to_server(server: &mut Server) {
    for (path, number) in PATHS.iter().zip(1..) {
        let asset: AssetRef<()> = server.assets().add(path);
        assert_eq!(asset.number().map(u32::from), Some(number), "{path}");
    }
}

/// The assets of one client.
#[derive(Default)]
pub(crate) struct Shelf {
    added: BTreeSet<&'static str>,
    /// The assets that the client has reported as missing.
    reported: BTreeSet<String>,
}

impl Shelf {
    /// Adds an asset to the client.
    pub(crate) fn add_one(&mut self, client: &mut Client, rng: &mut Rng) {
        let path = *rng.pick(&PATHS).expect("paths");
        self.added.insert(path);
        client.assets().add(path);
    }

    /// Checks that the client lacks an asset that it reports as missing.
    pub(crate) fn report(&mut self, path: &str) {
        assert!(PATHS.contains(&path) && self.reported.insert(path.to_owned()), "{path} is reported once");
    }

    /// Returns whether the client has an asset and knows its path. Returns `None` if the guid names an
    /// object.
    pub(crate) fn has(&self, client: &Client, guid: Guid) -> Option<bool> {
        let number = guid.asset_number()?;
        let path = PATHS[number.get() as usize - 1];
        let named = client.asset_path::<()>(AssetRef::new(number));
        assert!(named.is_none_or(|named| named == path), "{named:?}, not {path}");
        Some(named.is_some() && self.added.contains(path))
    }

    /// Returns whether the client knows the path of an asset. For an object it needs no path, so the result
    /// is `true`.
    pub(crate) fn is_named(&self, client: &Client, guid: Guid) -> bool {
        guid.asset_number().is_none_or(|number| client.asset_path::<()>(AssetRef::new(number)).is_some())
    }
}
