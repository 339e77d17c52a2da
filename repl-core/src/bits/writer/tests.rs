//! Tests of the bit writer, against another bit writer.

use bitstream_io::{BitWriter as Reference, LittleEndian};
use proptest::prelude::*;

use super::*;

fn field() -> impl Strategy<Value = (u64, u32)> {
    (any::<u64>(), 0..=64_u32).prop_map(|(value, bits)| (value & mask(bits), bits))
}

fn written(fields: &[(u64, u32)]) -> BitWriter {
    let mut writer = BitWriter::new();
    fields.iter().for_each(|&(value, bits)| writer.write_bits(value, bits));
    writer
}

proptest! {
    #[test]
    fn whole_bytes_are_appended_at_any_bit(
        fields in prop::collection::vec(field(), 0..4),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let (mut appended, mut naive) = (written(&fields), written(&fields));
        appended.append_bytes(&bytes);
        bytes.iter().for_each(|&byte| naive.write_bits(byte.into(), 8));
        prop_assert_eq!(appended, naive);
    }

    #[test]
    fn bytes_are_those_of_the_crate_whose_traits_we_implement(
        fields in prop::collection::vec(field(), 0..60),
        signed in prop::collection::vec((any::<i64>(), 1..=64_u32), 0..20),
        wide in any::<u128>(),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        fn write(
            to: &mut impl BitWrite,
            fields: &[(u64, u32)],
            signed: &[(i64, u32)],
            wide: u128,
            bytes: &[u8],
        ) -> io::Result<()> {
            for &(value, bits) in fields {
                to.write_var(bits, value)?;
            }
            for &(value, bits) in signed {
                to.write_signed_var(bits, value >> (64 - bits))?;
            }
            to.write_bit(true)?;
            to.write_unsigned_var(117, wide >> 11)?;
            to.write_from(wide)?;
            to.write::<13, i16>(-4096)?;
            to.write_bytes(bytes)?;
            to.byte_align()
        }
        let mut ours = BitWriter::new();
        write(&mut ours, &fields, &signed, wide, &bytes).unwrap();
        let mut theirs = Vec::new();
        write(&mut Reference::endian(&mut theirs, LittleEndian), &fields, &signed, wide, &bytes).unwrap();
        prop_assert_eq!(ours.finish(), theirs);
    }

    #[test]
    fn append_equals_writing_bit_by_bit(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        start in 0..70_usize,
        short in 0..70_usize,
        before in prop::collection::vec(field(), 0..4),
        finish in any::<bool>(),
    ) {
        let len = (bytes.len() * 8).saturating_sub(start + short);
        if let Some(slice) = BitSlice::new(&bytes, start, len) {
            let (mut fast, mut slow) = (written(&before), written(&before));
            if finish {
                fast.finish();
            }
            fast.append(slice);
            fast.write_bits(5, 3);
            for at in start..start + len {
                slow.write_flag(bytes[at / 8] >> (at % 8) & 1 == 1);
            }
            slow.write_bits(5, 3);
            prop_assert_eq!(fast.as_slice(), slow.as_slice());
            prop_assert_eq!(fast.finish(), slow.finish());
        }
    }

    #[test]
    fn truncate_keeps_the_earlier_bits(
        before in prop::collection::vec(field(), 0..9),
        undone in prop::collection::vec(field(), 0..9),
        after in prop::collection::vec(field(), 0..9),
        finish in any::<bool>(),
    ) {
        let mut writer = written(&before);
        let kept = writer.bit_len();
        undone.iter().for_each(|&(value, bits)| writer.write_bits(value, bits));
        if finish {
            writer.finish();
        }
        writer.truncate(kept);
        prop_assert_eq!(writer.bit_len(), kept);
        after.iter().for_each(|&(value, bits)| writer.write_bits(value, bits));
        let mut expected = written(&[before, after].concat());
        prop_assert_eq!(writer.finish(), expected.finish());
    }
}

#[test]
fn finished_bytes_are_those_that_were_written_since_the_writer_was_cleared() {
    let mut writer = written(&[(5, 40), (9, 40)]);
    assert_eq!(writer.finish().len(), 10);
    writer.clear();
    assert_eq!(writer.finished(), []);
    writer.write_bits(7, 3);
    assert_eq!(writer.finish(), [7]);
    assert_eq!(writer.finished(), [7]);
    writer.truncate(2);
    assert_eq!(writer.finish(), [3]);
    assert_eq!(writer.into_bytes(), [3]);
}

#[test]
fn finish_does_not_end_the_writing() {
    let mut writer = BitWriter::with_capacity(8);
    writer.write_bits(0b101, 3);
    assert_eq!(writer.finish(), [0b101]);
    writer.write_bits(u64::MAX, 64);
    assert_eq!(writer.finish(), [0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x07]);
    assert_eq!(writer.bit_len(), 67);
    writer.clear();
    assert!(writer.is_empty());
    assert_eq!(writer.finish(), []);
}

#[test]
fn values_that_do_not_fit_are_refused_by_the_trait() {
    let mut writer = BitWriter::new();
    assert!(writer.write_var(3, 8_u8).is_err());
    assert!(writer.write_var(9, 0_u8).is_err());
    assert!(writer.write_var(3, 4_i8).is_err());
    assert!(writer.write_var(0, 0_i8).is_err());
    assert!(writer.is_empty());
}

#[test]
fn writers_are_equal_if_the_same_bits_were_written() {
    let source = [0b1011_0110; 60];
    let (mut ours, mut theirs) = (BitWriter::new(), BitWriter::new());
    ours.append(BitSlice::new(&source, 0, 400).unwrap());
    (0..50).for_each(|_| theirs.write_bits(0b1011_0110, 8));
    assert_eq!(ours, theirs);
    theirs.finish();
    assert_eq!(ours, theirs);
    theirs.truncate(399);
    theirs.write_flag(false);
    assert_ne!(ours, theirs);
    theirs.truncate(399);
    assert_ne!(ours, theirs);
    ours.truncate(399);
    assert_eq!(ours, theirs);
    assert_ne!(ours, BitWriter::new());
}

#[test]
fn small_numbers_take_few_bits() {
    let length = |write: &dyn Fn(&mut BitWriter)| {
        let mut writer = BitWriter::new();
        write(&mut writer);
        writer.bit_len()
    };
    assert_eq!([0, 1, 2, 3, 6, 7].map(|value| length(&|w| w.write_exp_golomb(value, 0))), [1, 3, 3, 5, 5, 7]);
    assert_eq!([0, 7, 8, 23, 24].map(|value| length(&|w| w.write_exp_golomb(value, 3))), [4, 4, 6, 6, 8]);
    assert_eq!(length(&|w| w.write_exp_golomb(u64::MAX, 0)), 129);
    assert_eq!([1, 2, 3, 20].map(|bound| length(&|w| w.write_below(0, bound))), [0, 1, 2, 5]);
}
