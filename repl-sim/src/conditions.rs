//! Link conditions: the delays, losses and limits of a simulated link.
//!
//! *Invariant:* conditions are plain values. The state that a link has between packets is stored in the
//! network.

use super::rng::Rng;
use std::time::Duration;

/// The conditions of a link in one direction. All probabilities are from 0 to 1. The random choices are made
/// for each packet separately.
///
/// To make conditions, start from the result of a function such as [`mobile`](Self::mobile), and change the
/// fields that the test needs:
///
/// ```
/// # mod repl { pub(crate) use repl_sim as sim; }
/// use repl::sim::{LinkConditions, Loss};
/// use std::time::Duration;
///
/// let satellite = LinkConditions {
///     latency: Duration::from_millis(300),
///     loss: Loss::Independent(0.02),
///     bandwidth_bytes_per_second: Some(50_000),
///     ..LinkConditions::perfect()
/// };
/// assert_eq!(satellite.duplicate, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConditions {
    /// The shortest time from sending a packet to its arrival.
    pub latency: Duration,
    /// The longest random delay of a packet, in addition to the latency. The delay is chosen for each packet
    /// separately and is evenly distributed. If it can be longer than the time between two packets, packets
    /// may arrive in another order.
    pub jitter: Duration,
    /// The model that decides which packets are lost.
    pub loss: Loss,
    /// The probability that a packet arrives twice. Each copy of a packet has its own delay.
    pub duplicate: f64,
    /// The probability that a copy of a packet is delayed by `reorder_by`.
    pub reorder: f64,
    /// The extra delay of copies that `reorder` selects.
    pub reorder_by: Duration,
    /// The probability that a copy arrives with one bit flipped.
    pub corrupt: f64,
    /// The greatest length of a packet that the link transports, in bytes. Packets that are longer are lost.
    pub mtu_bytes: usize,
    /// The greatest number of bytes that leave the sender in a second, without the headers of lower layers.
    /// The value `None` means that the bandwidth has no limit. Packets that are sent faster wait in a queue
    /// and arrive later.
    pub bandwidth_bytes_per_second: Option<u64>,
    /// The greatest number of bytes that wait in the queue of a link with limited bandwidth. Packets that do
    /// not fit into the queue are lost.
    pub queue_bytes: usize,
}

/// The model of the random losses of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// No packet is lost.
    None,
    /// Each packet is lost with this probability, independently of other packets.
    Independent(f64),
    /// The packets that are sent in the first part of each period are lost, for example the packets of every
    /// second tick. Radio links that share a channel lose packets in this way.
    Regular {
        /// The length of a period. No packet is lost if it is zero.
        period: Duration,
        /// The part of each period, from its start on, in which all packets are lost.
        lost: Duration,
    },
    /// The model of Gilbert and Elliott, which loses packets in bursts. The link is in a good or a bad state,
    /// which may change before each packet. Each of the two states has its own rate of loss. A link starts in
    /// the good state.
    GilbertElliott {
        /// The probability that the link changes to the bad state before a packet.
        good_to_bad: f64,
        /// The probability that the link changes to the good state before a packet. The number 1 divided by
        /// this probability is the mean length of a bad period, in packets.
        bad_to_good: f64,
        /// The probability that a packet is lost while the link is in the good state.
        loss_when_good: f64,
        /// The probability that a packet is lost while the link is in the bad state.
        loss_when_bad: f64,
    },
}

impl Loss {
    /// Returns a model that loses packets in bursts with a mean length of `mean_length` packets. The argument
    /// `rate` is the share of all packets that is lost.
    ///
    /// # Panics
    /// Panics if `mean_length` is below 1, or `rate` is not from 0 to `mean_length` / (`mean_length` + 1). At
    /// a higher rate, bursts of the length `mean_length` would follow each other without a packet between
    /// them.
    #[must_use]
    pub fn bursts(rate: f64, mean_length: f64) -> Self {
        assert!(mean_length >= 1.0, "a burst has at least one packet");
        let good_to_bad = rate / (mean_length * (1.0 - rate));
        assert!(
            (0.0..=1.0).contains(&good_to_bad),
            "bursts of {mean_length} packets cannot make up {rate} of all"
        );
        Self::GilbertElliott {
            good_to_bad,
            bad_to_good: mean_length.recip(),
            loss_when_good: 0.0,
            loss_when_bad: 1.0,
        }
    }

    /// Returns whether the next packet, which is sent at the time `now`, is lost. The argument `bad` is the
    /// state of the loss model. The caller passes the same variable for all packets of a link.
    pub(super) fn loses_next(&self, now: Duration, bad: &mut bool, rng: &mut Rng) -> bool {
        match *self {
            Self::None => false,
            Self::Independent(probability) => rng.chance(probability),
            Self::Regular { period, lost } => {
                now.as_nanos().checked_rem(period.as_nanos()).is_some_and(|phase| phase < lost.as_nanos())
            }
            Self::GilbertElliott { good_to_bad, bad_to_good, loss_when_good, loss_when_bad } => {
                *bad = if *bad { !rng.chance(bad_to_good) } else { rng.chance(good_to_bad) };
                rng.chance(if *bad { loss_when_bad } else { loss_when_good })
            }
        }
    }
}

impl LinkConditions {
    /// The greatest number of bytes of a packet that fits into an Ethernet frame together with the headers of
    /// IPv4 and UDP.
    const ETHERNET_BYTES: usize = 1_472;

    /// Returns the conditions of a perfect link: every packet of up to 1,472 bytes arrives immediately,
    /// exactly once and in order.
    #[must_use]
    pub const fn perfect() -> Self {
        Self {
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: Loss::None,
            duplicate: 0.0,
            reorder: 0.0,
            reorder_by: Duration::ZERO,
            corrupt: 0.0,
            mtu_bytes: Self::ETHERNET_BYTES,
            bandwidth_bytes_per_second: None,
            queue_bytes: 64 * 1_024,
        }
    }

    /// Returns the conditions of a wired network in one house: a round trip of 1 to 2 ms, and no losses.
    #[must_use]
    pub const fn lan() -> Self {
        Self { latency: Duration::from_micros(500), jitter: Duration::from_micros(500), ..Self::perfect() }
    }

    /// Returns the conditions of a wireless network at home, with a server in the same country: a round trip
    /// of 40 to 60 ms, and 1 % of packets lost.
    #[must_use]
    pub const fn wifi() -> Self {
        Self {
            latency: Duration::from_millis(20),
            jitter: Duration::from_millis(10),
            loss: Loss::Independent(0.01),
            duplicate: 0.001,
            ..Self::perfect()
        }
    }

    /// Returns the conditions of a mobile phone on the move: a round trip of 100 to 180 ms, 5 % of packets
    /// lost in bursts of 5 on average, and 200 KB a second.
    #[must_use]
    pub const fn mobile() -> Self {
        Self {
            latency: Duration::from_millis(50),
            jitter: Duration::from_millis(40),
            loss: Loss::GilbertElliott {
                good_to_bad: 0.0105,
                bad_to_good: 0.2,
                loss_when_good: 0.0,
                loss_when_bad: 1.0,
            },
            duplicate: 0.005,
            reorder: 0.01,
            reorder_by: Duration::from_millis(50),
            bandwidth_bytes_per_second: Some(200_000),
            ..Self::perfect()
        }
    }

    /// Returns the conditions of a link that is worse than any link on which games are played. On this link,
    /// the round trip is 200 to 800 ms. Half of all packets are lost, 30 % are duplicated, 30 % are half a
    /// second late, and 1 in 50 is damaged.
    #[must_use]
    pub const fn hostile() -> Self {
        Self {
            latency: Duration::from_millis(100),
            jitter: Duration::from_millis(300),
            loss: Loss::Independent(0.5),
            duplicate: 0.3,
            reorder: 0.3,
            reorder_by: Duration::from_millis(500),
            corrupt: 0.02,
            ..Self::perfect()
        }
    }

    /// Returns the same conditions, except that each packet is lost with the probability `probability`.
    #[must_use]
    pub const fn with_loss(self, probability: f64) -> Self {
        Self { loss: Loss::Independent(probability), ..self }
    }

    /// # Panics
    /// Panics if a probability is not from 0 to 1 or the bandwidth is zero.
    pub(super) fn check(&self) {
        let losses = match self.loss {
            Loss::None | Loss::Regular { .. } => [0.0; 4],
            Loss::Independent(probability) => [probability; 4],
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_when_good, loss_when_bad } => {
                [good_to_bad, bad_to_good, loss_when_good, loss_when_bad]
            }
        };
        for probability in losses.into_iter().chain([self.duplicate, self.reorder, self.corrupt]) {
            assert!(
                (0.0..=1.0).contains(&probability),
                "{probability} is no probability: it is not from 0 to 1"
            );
        }
        assert!(
            self.bandwidth_bytes_per_second != Some(0),
            "a link without bandwidth carries nothing: sever it instead"
        );
    }
}

impl Default for LinkConditions {
    /// Returns the conditions of [`perfect`](Self::perfect).
    fn default() -> Self {
        Self::perfect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates many packets. `observe` returns the share of packets that were lost, and the mean length of
    /// the bursts.
    fn observe(loss: Loss) -> (f64, f64) {
        let (mut rng, mut bad) = (Rng::new(11), false);
        let fates: Vec<bool> =
            (0..2_000_000).map(|_| loss.loses_next(Duration::ZERO, &mut bad, &mut rng)).collect();
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let rows = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (lost / fates.len() as f64, lost / rows.max(1.0))
    }

    #[test]
    fn bursts_have_the_rate_and_the_length_they_were_made_for() {
        for (rate, length) in [(0.05, 5.0), (0.3, 20.0), (0.5, 1.0), (0.2, 64.0)] {
            let (seen_rate, seen_length) = observe(Loss::bursts(rate, length));
            assert!((seen_rate - rate).abs() < 0.1 * rate, "{seen_rate} for {rate}");
            assert!((seen_length - length).abs() < 0.1 * length, "{seen_length} for {length}");
        }
    }

    #[test]
    fn independent_losses_have_their_rate() {
        assert_eq!(observe(Loss::None).0, 0.0);
        assert_eq!(observe(Loss::Independent(1.0)).0, 1.0);
        let (rate, length) = observe(Loss::Independent(0.2));
        assert!((rate - 0.2).abs() < 0.01 && (length - 1.25).abs() < 0.02);
    }

    #[test]
    fn the_named_links_are_sound_and_as_described() {
        for conditions in [
            LinkConditions::perfect(),
            LinkConditions::lan(),
            LinkConditions::wifi(),
            LinkConditions::mobile(),
            LinkConditions::hostile(),
            LinkConditions::default().with_loss(0.9),
        ] {
            conditions.check();
        }
        assert!((observe(LinkConditions::mobile().loss).0 - 0.05).abs() < 0.005);
    }

    #[test]
    #[should_panic(expected = "1.5 is no probability")]
    fn a_probability_above_one_is_refused() {
        LinkConditions { corrupt: 1.5, ..LinkConditions::perfect() }.check();
    }

    #[test]
    #[should_panic(expected = "cannot make up")]
    fn bursts_that_cannot_be_are_refused() {
        let _ = Loss::bursts(0.9, 2.0);
    }
}
