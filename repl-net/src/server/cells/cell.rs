//! A cell: its members, and the connections that have it in sight.
//!
//! *Invariant:* the viewers are in ascending order, and the bands count all viewers that are not in the
//! nearest band.

use repl_core::__private::{preload, preload_all};
use repl_link::ConnectionId;

use super::area::{Band, Nearness, Ring};
use super::strips::StripPlace;

/// An empty cell keeps memory for at most this many members, and for at most this many viewers.
const MAX_SPARE: usize = 8;

/// A cell. It fits into one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Cell {
    pub(super) place: StripPlace,
    pub(super) members: Vec<u32>,
    /// The connections that have the cell in sight, in ascending order.
    viewers: Vec<Viewer>,
    /// The bands of the viewers, if any of them is not in the nearest band.
    bands: Option<Box<Bands>>,
}

const _: () = assert!(size_of::<Cell>() == 64, "each move of an object to another cell reads two of them");

/// The bands of the viewers of a cell except the nearest band, each with the number of viewers that have it.
#[derive(Debug, Default)]
struct Bands(Vec<(Band, u32)>);

impl Cell {
    pub(super) fn new(place: StripPlace) -> Self {
        Self { place, members: Vec::new(), viewers: Vec::new(), bands: None }
    }

    /// Preloads the memory that adding or removing a member or a viewer reads.
    pub(super) fn preload_lists(&self) {
        self.members.last().into_iter().for_each(preload);
        preload_all(self.viewers.as_slice());
    }

    /// Frees the memory of an empty cell if it is large. Small memory stays for the next cell with this
    /// number, because cells appear and disappear often, when objects and viewpoints move.
    pub(super) fn free_large(&mut self) {
        if self.members.capacity() > MAX_SPARE {
            self.members = Vec::new();
        }
        if self.viewers.capacity() > MAX_SPARE {
            self.viewers = Vec::new();
        }
    }

    /// Returns the bands of the viewers except the nearest band, each with the number of viewers.
    pub(super) fn bands(&self) -> &[(Band, u32)] {
        self.bands.as_ref().map_or(&[], |bands| &bands.0)
    }

    pub(super) fn is_unused(&self) -> bool {
        self.members.is_empty() && self.viewers.is_empty()
    }

    pub(super) fn viewers(&self) -> &[Viewer] {
        &self.viewers
    }

    /// Returns how near the cell is to a connection. Returns `None` if the connection does not have the cell
    /// in sight. Costs O(log viewers).
    #[inline]
    pub(super) fn nearness(&self, viewer: ConnectionId) -> Option<Nearness> {
        nearness_to(&self.viewers, viewer)
    }

    /// Adds a viewer, or changes how near the cell is to a viewer.
    pub(super) fn set_viewer(&mut self, id: ConnectionId, nearness: Nearness) {
        self.add_band(nearness.band());
        match self.viewers.binary_search_by_key(&id, |viewer| viewer.id) {
            Ok(index) => {
                let before = std::mem::replace(&mut self.viewers[index].nearness, nearness);
                self.remove_band(before.band());
            }
            Err(index) => self.viewers.insert(index, Viewer { id, nearness }),
        }
    }

    /// Removes a viewer. Returns whether the connection had the cell in sight.
    pub(super) fn remove_viewer(&mut self, id: ConnectionId) -> bool {
        let Ok(index) = self.viewers.binary_search_by_key(&id, |viewer| viewer.id) else { return false };
        let Viewer { nearness, .. } = self.viewers.remove(index);
        self.remove_band(nearness.band());
        true
    }

    fn add_band(&mut self, band: Band) {
        if band == Band::NEAREST {
            return;
        }
        let Bands(bands) = &mut **self.bands.get_or_insert_default();
        match bands.iter_mut().find(|(known, _)| *known == band) {
            Some((_, count)) => *count += 1,
            None => bands.push((band, 1)),
        }
    }

    fn remove_band(&mut self, band: Band) {
        let Some(bands) = &mut self.bands else { return };
        if let Some(at) = bands.0.iter().position(|(known, _)| *known == band) {
            bands.0[at].1 -= 1;
            if bands.0[at].1 == 0 {
                bands.0.swap_remove(at);
            }
        }
        if bands.0.is_empty() {
            self.bands = None;
        }
    }

    /// Returns the number of viewers in a band (range of distances).
    pub(super) fn viewers_in(&self, band: Band) -> u32 {
        let counts = self.bands().iter();
        if band == Band::NEAREST {
            self.viewers.len() as u32 - counts.map(|(_, count)| count).sum::<u32>()
        } else {
            counts.filter(|(known, _)| *known == band).map(|(_, count)| count).sum()
        }
    }
}

/// A connection that has a cell in sight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    id: ConnectionId,
    nearness: Nearness,
}

/// Returns how near the cell with these viewers is to one of them.
#[inline]
fn nearness_to(viewers: &[Viewer], viewer: ConnectionId) -> Option<Nearness> {
    let index = viewers.binary_search_by_key(&viewer, |viewer| viewer.id).ok()?;
    Some(viewers[index].nearness)
}

/// Returns the connections that must reconsider an object that moves from a cell with the viewers `before` to
/// a cell with the viewers `after`. These are the connections for which the object goes out of sight, comes
/// nearer or goes into another band. A connection for which the new cell is only [kept](Ring::Kept) must also
/// reconsider the object, if it had the old cell in its rings.
pub(super) fn concerned<'a>(
    before: &'a [Viewer],
    after: &'a [Viewer],
) -> impl Iterator<Item = ConnectionId> + 'a {
    let leaving = before.iter().filter(move |viewer| nearness_to(after, viewer.id).is_none());
    let others = after.iter().filter(move |viewer| {
        let before = nearness_to(before, viewer.id);
        let is_kept = viewer.nearness.ring == Ring::Kept && before.is_some();
        is_kept || viewer.nearness.is_reconsidered_after(before)
    });
    leaving.chain(others).map(|viewer| viewer.id)
}
