use repl::FastArrayItem;

#[derive(FastArrayItem)]
union Item {
    whole: u32,
    halves: [u16; 2],
}

fn main() {}
