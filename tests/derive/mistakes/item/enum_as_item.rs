use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
enum Item {
    #[default]
    Nothing,
    Sword { sharpness: u8 },
}

fn main() {}
