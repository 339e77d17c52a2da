use repl::Replicated;

const TOO_MANY_BITS: u8 = 23;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(unit_vector = TOO_MANY_BITS))]
    facing: [f32; 3],
}

fn main() {}
