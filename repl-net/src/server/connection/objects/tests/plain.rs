//! The naive model: the state of one object for a client, as plain fields that are changed one by one.

use std::collections::{BTreeMap, BTreeSet};

use repl_link::parts::Sequence;

use super::super::{Closed, LostOpening, Phase, ProxyState};
use crate::body::removal::CloseReason;

#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub(super) generation: u32,
    pub(super) is_alive: bool,
    pub(super) is_hidden: bool,
    pub(super) has_own_view: bool,
    pub(super) is_owned: bool,
    pub(super) is_known: bool,
    pub(super) was_used: bool,
    /// The number of the next packet at the time when the client had removed the previous object of the slot.
    pub(super) removed_at: u64,
    /// The phase of the object if it is a pending spawn.
    pub(super) spawn: Option<Phase>,
    pub(super) must_send: bool,
    pub(super) is_removed_plainly: bool,
    pub(super) tracked: Option<PlainTracked>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PlainTracked {
    pub(super) phase: Phase,
    pub(super) since: u64,
    pub(super) carried: u64,
    pub(super) position: Option<u64>,
    pub(super) pending: BTreeSet<u32>,
    pub(super) left: BTreeMap<u32, u64>,
    pub(super) blob: Option<u32>,
    pub(super) proxy: ProxyState,
    pub(super) open_bits: usize,
    pub(super) arrived_late: bool,
    pub(super) reopen: bool,
}

impl PlainTracked {
    pub(super) fn new(phase: Phase, since: u64) -> Self {
        Self { phase, since, open_bits: usize::from(phase == Phase::Opening), ..Self::default() }
    }

    pub(super) fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing(_))
    }

    pub(super) fn lacks_something(&self) -> bool {
        self.position.is_some() || !self.pending.is_empty() || matches!(self.proxy, ProxyState::Unsent(_))
    }

    pub(super) fn is_up_to_date(&self) -> bool {
        let has_all = !self.lacks_something() && self.proxy == ProxyState::UpToDate;
        self.phase == Phase::Open && has_all && self.blob.is_none()
    }
}

impl Plain {
    pub(super) fn is_in_step(&self) -> bool {
        let is_up_to_date = self.tracked.as_ref().is_none_or(PlainTracked::is_up_to_date);
        let is_whole = self.spawn.is_none() && !self.is_removed_plainly;
        self.is_known && is_whole && !self.has_own_view && is_up_to_date
    }

    /// Returns whether only a closing must be sent to the client if the object is destroyed now.
    pub(super) fn is_removable_plainly(&self) -> bool {
        let is_seen_plainly = !(self.is_hidden || self.has_own_view || self.is_owned);
        let is_here = self.is_known && !self.was_used && self.spawn != Some(Phase::Unsent);
        is_here && is_seen_plainly && !self.must_send && self.tracked.is_none()
    }

    pub(super) fn track(&mut self) -> &mut PlainTracked {
        let removal = Phase::Closing(CloseReason::Destroyed);
        let is_removed = std::mem::take(&mut self.is_removed_plainly);
        let phase = if is_removed { Some(removal) } else { self.spawn.take() };
        self.must_send |= phase == Some(Phase::Unsent);
        self.tracked.get_or_insert_with(|| PlainTracked::new(phase.unwrap_or(Phase::Open), 0))
    }

    pub(super) fn show(&mut self, next: u64, is_newborn: bool) {
        if let Some(tracked) = self.tracked.as_mut().filter(|tracked| tracked.is_closing()) {
            tracked.reopen = true;
        } else if !self.is_known {
            self.is_known = true;
            if self.was_used && !is_newborn || self.has_own_view || self.is_owned {
                self.must_send = true;
                self.tracked = Some(PlainTracked::new(Phase::Unsent, next));
            } else {
                (self.spawn, self.was_used) = (Some(Phase::Unsent), false);
            }
        }
    }

    pub(super) fn close(&mut self, reason: CloseReason, next: u64) -> Option<Closed> {
        if !self.is_known {
            return None;
        }
        let tracked = self.track();
        tracked.reopen = false;
        if tracked.is_closing() {
            if reason == CloseReason::Destroyed {
                tracked.phase = Phase::Closing(reason);
            }
            return None;
        }
        let is_forgotten = tracked.phase == Phase::Unsent && tracked.open_bits == 0;
        (tracked.phase, tracked.since) = (Phase::Closing(reason), next);
        tracked.pending.clear();
        let closed = Closed { position: tracked.position.take(), blob: tracked.blob.take(), is_forgotten };
        self.must_send = true;
        if is_forgotten {
            self.removed_at = next;
            self.forget();
        }
        Some(closed)
    }

    pub(super) fn forget(&mut self) -> bool {
        let reopen = self.tracked.take().is_some_and(|tracked| tracked.reopen);
        (self.is_known, self.was_used, self.must_send, self.spawn) = (false, true, false, None);
        self.is_removed_plainly = false;
        reopen
    }

    pub(super) fn settle_if_tracked(&mut self) {
        if self.tracked.is_some() {
            self.update_step();
        }
    }

    pub(super) fn opening_arrived(&mut self, sequence: Sequence) {
        if let Some(tracked) = &mut self.tracked
            && tracked.since <= sequence.number()
        {
            tracked.arrived_late |= tracked.phase == Phase::Unsent;
            if tracked.phase == Phase::Opening {
                tracked.phase = Phase::Open;
                self.must_send |= tracked.lacks_something();
            }
        }
        self.settle_if_tracked();
    }

    pub(super) fn opening_lost(&mut self, sequence: Sequence) -> LostOpening {
        let opening = self.tracked.clone().filter(|tracked| tracked.phase == Phase::Opening);
        if opening.as_ref().is_some_and(|opening| sequence.number() < opening.since) {
            return LostOpening::Ignored;
        }
        self.proxy_lost(sequence);
        match opening {
            None => LostOpening::Values,
            Some(opening) if opening.blob.is_some() || opening.carried > sequence.number() => {
                LostOpening::Ignored
            }
            Some(_) => {
                self.track().phase = Phase::Unsent;
                self.must_send = true;
                LostOpening::Unsent
            }
        }
    }

    pub(super) fn proxy_arrived(&mut self, sequence: Sequence) {
        if let Some(tracked) = &mut self.tracked
            && let ProxyState::Unsent(since) | ProxyState::Sent(since, _) = tracked.proxy
            && since <= sequence
        {
            tracked.proxy = ProxyState::UpToDate;
        }
    }

    pub(super) fn proxy_lost(&mut self, sequence: Sequence) {
        if let Some(tracked) = &mut self.tracked
            && let ProxyState::Sent(since, last) = tracked.proxy
            && last <= sequence
        {
            tracked.proxy = ProxyState::Unsent(since);
            self.must_send = true;
        }
    }

    pub(super) fn update_step(&mut self) {
        self.must_send &= !self.is_in_step();
        if self.tracked.as_ref().is_some_and(|tracked| tracked.is_up_to_date() && tracked.left.is_empty()) {
            self.tracked = None;
        }
    }
}
