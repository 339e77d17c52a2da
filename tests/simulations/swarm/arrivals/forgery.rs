//! Packets of an attacker who knows the number of a session and the number of the server, but not the token.
//!
//! *Invariant:* none of these packets is sealed correctly for the session, so none has an effect.

use repl::BitWriter;
use repl::sim::Rng;

use crate::forge;

/// Returns a control packet of this type.
fn control(kind: u64, key: u64, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    writer.write_bits(kind, 3);
    write(&mut writer);
    forge::seal(&writer.into_bytes(), key)
}

/// Returns a forged packet: a disconnect packet, a welcome, another control packet that may be malformed, or
/// a packet of state that may be malformed.
pub(super) fn packet(rng: &mut Rng, session: u64, instance: u64) -> Vec<u8> {
    let key = *rng.pick(&[session, session, session ^ instance]).expect("keys");
    match rng.below(6) {
        0..2 => control(5, key, |writer| writer.write_bits(rng.below(16), 12)),
        2 => control(1, key, |writer| {
            writer.write_bits(1 + rng.below(5_000), 32);
            writer.write_bits(rng.next_u64(), 64);
            writer.write_bits(instance, 64);
            // No login, and state without the token or with it.
            writer.write_bits(rng.below(2) << 10, 11);
        }),
        3 => {
            let words = rng.below(5);
            control(rng.below(8), key, |writer| {
                (0..words).for_each(|_| writer.write_bits(rng.next_u64(), 64));
            })
        }
        4 => {
            let number = rng.below(2_000) as u16;
            forge::state(number, key, |writer| {
                forge::segment(2, writer);
                writer.write_exp_golomb(0, 0);
                writer.write_bits(0, 2);
                forge::end(writer);
            })
        }
        _ => {
            let number = rng.below(2_000) as u16;
            forge::state(number, key, |writer| writer.write_bits(rng.next_u64(), 64))
        }
    }
}
