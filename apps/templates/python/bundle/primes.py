"""What kernel and manager both know: how many primes are there below `limit`? Item i is the count in the numbers from
i * block on."""


def settings(parameters):
    """(limit, block); ValueError with every mistake."""
    known = {"limit": 1_000_000, "block": 10_000}
    mistakes = [f"{key}: there is no such parameter" for key in parameters if key not in known]
    values = {**known, **parameters}
    mistakes += [f"{key}: expected a whole number from 1 to 1000000000" for key in known
                 if type(values[key]) is not int or not 1 <= values[key] <= 10 ** 9]
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return values["limit"], values["block"]


def is_prime(number):
    if number < 2:
        return False
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True
