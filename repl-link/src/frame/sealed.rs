//! The form of packets for a transport that encrypts and authenticates them, and that has a connection for
//! each session. Packets of state then need no checksum, because the transport knows that each packet is
//! undamaged and belongs to the session (R25).
//!
//! *Invariant:* only this side's transport decides that packets have this form. The bytes of a peer never
//! decide it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::frame::packet::{self, CHECKSUM_BYTES};

/// Appends a packet to `into` in the form for a transport that encrypts: a packet of state without its
/// checksum, and any other packet with its checksum at the end.
pub fn to_sealed(packet: &[u8], into: &mut Vec<u8>) {
    let Some((checksum, content)) = packet.split_first_chunk::<CHECKSUM_BYTES>() else { return };
    into.extend_from_slice(content);
    if !packet::is_state(packet) {
        into.extend_from_slice(checksum);
    }
}

/// Replaces `into` by the usual form of a packet that has arrived in the form of [`to_sealed`]. A packet of
/// state then has zeros in place of the checksum. Bytes that are not a packet become a packet that every
/// reader refuses.
pub fn from_sealed(bytes: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let is_state = bytes.first().is_some_and(|first| first & 1 == 0);
    match bytes.split_last_chunk::<CHECKSUM_BYTES>() {
        Some((content, checksum)) if !is_state => {
            into.extend_from_slice(checksum);
            into.extend_from_slice(content);
        }
        _ => {
            into.extend_from_slice(&[0; CHECKSUM_BYTES]);
            into.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_comes_back_except_the_checksum_of_state() {
        let (state, control) = ([1, 2, 3, 4, 0b10, 7], [1, 2, 3, 4, 0b11, 7]);
        let back = |packet: &[u8]| {
            let (mut sealed, mut back) = (Vec::new(), vec![9; 3]);
            to_sealed(packet, &mut sealed);
            from_sealed(&sealed, &mut back);
            (sealed.len(), back)
        };
        assert_eq!(back(&state), (2, vec![0, 0, 0, 0, 0b10, 7]));
        assert_eq!(back(&control), (6, control.to_vec()));
        for bytes in [&[][..], &[1], &[1, 2, 3]] {
            let mut into = Vec::new();
            from_sealed(bytes, &mut into);
            assert_eq!(into.len(), bytes.len() + 4);
        }
    }
}
