use repl::Replicated;

// As a `u8` this is 5.
const BITS: u32 = 261;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = BITS)]
    ammo: u16,
}

fn main() {}
