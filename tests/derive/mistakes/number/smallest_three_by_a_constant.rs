use repl::Replicated;

const TWO_BITS: u8 = 2;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(smallest_three = TWO_BITS))]
    rotation: [f32; 4],
}

fn main() {}
