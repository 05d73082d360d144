"""What things cost, as ratios to the least that they could cost; `python -m bench` measures."""
