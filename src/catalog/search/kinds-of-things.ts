/**
 * Of what kind the things are that people name, in the words of the tools that deal in them: who
 * asks whether it will rain wants the weather, and may not say so.
 */

/** On the left what people name, on the right the kind; not the other way round. */
export const kindsOfThings = `
actor actress cinema director episode hollywood netflix sequel series sitcom trailer tv > movie film media show
airline boarding jet layover nonstop > flight airport travel
airbnb hostel inn lodging motel resort suite > hotel accommodation booking
album band lyrics melody playlist singer song spotify > music song audio
apartment bedroom condo house landlord mortgage realtor rent tenant villa > property house estate rental
arxiv citation doi journal paper peer scholar science scientific study thesis > research paper academic article
assignment campus college exam homework lesson professor quiz school tutor university > education learning course student
astrology horoscope tarot zodiac > astrology horoscope
avatar drawing icon illustration logo meme painting poster sketch wallpaper > image design picture generate
ballot congress democrat election governor parliament politician president republican senator vote > politics government election
bank checking debit iban overdraft > bank account finance
bible church gospel prayer quran scripture verse > bible religion
bicycle bus commute ferry metro subway taxi tram uber > transport route travel trip
bitcoin btc coin crypto defi dogecoin eth ethereum litecoin nft ripple solana stablecoin token wallet > cryptocurrency crypto coin finance blockchain
blender camera earbuds furniture gadget headphones iphone jacket laptop mattress microwave phone
  shoes smartphone sneakers sofa television vacuum watch > product shopping price
breakfast brunch burger cafe cuisine dessert dinner lunch pizza steak sushi vegan vegetarian > restaurant food meal recipe
breed cat dog kitten pet puppy veterinarian > pet animal
calculus cosine derivative equation factorial integral logarithm matrix polynomial sine theorem triangle > math calculate
camping hike hiking mountain trail > outdoor park travel
cardio gym muscle squat training workout yoga > fitness exercise workout
celsius cloudy cold drizzle fahrenheit fog hail heatwave hot humid humidity hurricane precipitation rain
  raincoat rainy snow snowfall storm sunny sunrise sunset temperature thunderstorm umbrella uv wind windy > weather forecast temperature
census demographic gdp ethnic inhabitant populace population racial > population statistics data demographics
certificate dns domain hosting ssl subdomain whois > domain website dns
chess crossword dice minecraft poker puzzle riddle sudoku trivia > game play
civic diesel engine fuel gasoline honda mileage motorcycle petrol sedan suv tesla toyota truck > car vehicle fuel
coupon discount promo sale voucher > coupon deal discount
courier dhl fedex parcel shipment ups usps > package shipment delivery track
court crime criminal defendant illegal judge lawsuit lawyer legislation plaintiff regulation statute > law legal
cv employer hiring internship occupation recruiter resume salary vacancy > job career employment
deductible policyholder premium > insurance
dividend etf equity invest investor nasdaq portfolio share shareholder ticker > stock market finance investment
dollar eur euro franc gbp inr jpy peso pound rupee usd yen yuan > currency exchange convert
earthquake eruption flood tsunami volcano wildfire > disaster earthquake alert
facebook follower hashtag influencer instagram linkedin reddit tiktok tweet twitter > social media post
festival gala parade theater venue > event ticket
flower garden gardening seed soil tree > plant garden
galaxy mars moon nasa planet rocket satellite telescope > space astronomy
gift present souvenir wedding > gift product
headline journalist newspaper > news article
illness allergy cancer cough diabetes diagnosis disease doctor fever flu headache hospital injury nurse pain patient
  symptom therapy vaccine virus > health medical disease symptom
itinerary landmark sightseeing tour tourist vacation visa > travel trip attraction tour
arabic chinese dutch english french german hindi italian japanese korean latin mandarin portuguese russian spanish
  swedish turkish > language translate translation
latitude longitude neighborhood postcode street zip zipcode > location address map
calorie carbohydrate diet fat keto nutrient protein vitamin > nutrition food diet
author chapter fiction isbn novel poem poetry publisher > book literature
baseball basketball championship coach cricket football goal golf hockey league nba nfl playoff quarterback soccer
  team tennis tournament > sport team game match player
bake boil cake chicken dish flour ingredient oven soup spice > recipe cook food
clip channel film footage youtube > video
github gitlab npm > repository code
invoice payroll receipt refund > payment invoice
loan interest lender repayment > loan finance
pollen pollution smog pm2 > air quality
tax irs vat > tax finance`
