use repl::{Layout, NetSerialize};

#[derive(NetSerialize, Clone, Default)]
struct Colour {
    red: u8,
}

fn main() {
    println!("{}", Layout::of::<Colour>());
}
