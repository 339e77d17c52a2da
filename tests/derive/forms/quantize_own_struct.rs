//! One attribute on a field quantizes every float of the field's struct, if the struct allows it.

use repl::__private::Quantizable;
use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Vector {
    x: f32,
    y: f32,
}

impl Quantizable for Vector {}

#[derive(Replicated, Default)]
struct Ball {
    #[replicated(quantize(step = 0.5, range = 0.0..=31.5))]
    position: [Vector; 2],
}

#[test]
fn these_forms_are_accepted() {
    let mut writer = repl::BitWriter::new();
    let ball = Ball { position: [Vector { x: 1.0, y: 2.0 }, Vector { x: 3.0, y: 31.5 }] };
    repl::NetSerialize::write(&ball, &mut writer).expect("in range");
    assert_eq!(writer.bit_len(), 4 * 6);
}
