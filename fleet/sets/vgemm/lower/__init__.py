"""Operations of the IR become instructions: matching, tiles, windows, schedule."""
